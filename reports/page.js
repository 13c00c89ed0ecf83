"use strict";
// The report's page: theme, downloads, the section marker, and the gallery. Captions only ever become text nodes.
(() => {
  const $ = (id) => document.getElementById(id);
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const read = (id) => ($(id) ? JSON.parse($(id).textContent) : null);

  // ---- theme: the reader's system decides until the button is used
  const root = document.documentElement;
  const remember = (value) => { try { localStorage.setItem("theme", value); } catch { /* from disk some browsers refuse */ } };
  try { if (localStorage.getItem("theme")) root.dataset.theme = localStorage.getItem("theme"); } catch { /* same */ }
  $("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember(root.dataset.theme);
  });

  // ---- downloads of a table's or plot's numbers and pictures
  const save = (name, blob) => {
    const link = make("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 5000);
  };
  const standalone = (name) => {
    const svg = $(`plot-${name}`).querySelector("svg").cloneNode(true);
    const style = getComputedStyle(root);
    const [, , width, height] = svg.getAttribute("viewBox").split(" ");
    svg.removeAttribute("style"); // it fits the plot to the page
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    const text = new XMLSerializer().serializeToString(svg);
    return text.replace(/var\((--[\w-]+),\s*([^)]+)\)/g, (_, variable, otherwise) =>
      (variable === "--font" ? "sans-serif" : style.getPropertyValue(variable).trim() || otherwise));
  };
  const asPng = (name) => {
    const picture = new Image();
    const [, , width, height] = $(`plot-${name}`).querySelector("svg").getAttribute("viewBox").split(" ").map(Number);
    picture.onload = () => {
      const canvas = make("canvas");
      canvas.width = width * 3;
      canvas.height = height * 3;
      const pen = canvas.getContext("2d");
      pen.fillStyle = getComputedStyle(document.body).backgroundColor;
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(`${name}.png`, blob), "image/png");
    };
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(name))}`;
  };
  document.addEventListener("click", (event) => {
    const { csv, svg, png } = event.target.dataset ?? {};
    if (csv) save(`${csv}.csv`, new Blob([read("csv")[csv]], { type: "text/csv" }));
    if (svg) save(`${svg}.svg`, new Blob([standalone(svg)], { type: "image/svg+xml" }));
    if (png) asPng(png);
  });

  // ---- a section of several sets shows one of them; on paper, and without this script, all
  document.querySelectorAll("main > section").forEach((section) => {
    const groups = [...section.querySelectorAll(":scope > .group")].filter((group) => group.querySelector("h3"));
    if (groups.length < 2) return;
    const bar = make("div", "tabs");
    bar.setAttribute("role", "tablist");
    const show = (chosen, focus) => groups.forEach((group, n) => {
      const on = n === (chosen + groups.length) % groups.length;
      group.classList.toggle("on", on);
      bar.children[n].setAttribute("aria-selected", on);
      bar.children[n].tabIndex = on ? 0 : -1;
      if (on && focus) bar.children[n].focus();
    });
    groups.forEach((group, n) => {
      const button = make("button", "", group.querySelector("h3").textContent);
      button.type = "button";
      button.setAttribute("role", "tab");
      button.setAttribute("aria-controls", group.id);
      group.setAttribute("role", "tabpanel");
      button.addEventListener("click", () => show(n));
      button.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) { show(n + step, true); event.preventDefault(); }
      });
      bar.append(button);
    });
    groups[0].before(bar);
    section.classList.add("tabbed");
    show(0);
  });

  // ---- which section is being read
  const links = [...document.querySelectorAll("nav a")];
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links) {
        const here = link.hash === `#${entry.target.id}`;
        link.classList.toggle("here", here);
        if (here) $("menu").textContent = link.textContent;
      }
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  document.querySelectorAll("main > section").forEach((section) => watcher.observe(section));
  const unfold = (open) => $("menu").setAttribute("aria-expanded", open); // a narrow screen has a menu of the sections
  $("menu").addEventListener("click", () => unfold($("menu").getAttribute("aria-expanded") !== "true"));
  document.addEventListener("click", (event) => { if (event.target !== $("menu")) unfold(false); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") unfold(false); });

  const data = read("data");
  if (!data) return;

  // ---- the gallery
  const PAGE = matchMedia("(max-width: 760px)").matches ? 8 : 20;
  const list = $("items");
  const controls = { run: $("run"), outcome: $("outcome"), kind: $("kind"), sort: $("sort"), search: $("search") };
  let shown = []; // numbers of the items that pass the filters, in order
  let drawn = 0;
  let current = -1;

  const groups = new Map();
  data.runs.forEach((run, number) => {
    const set = data.sets[run.set].name;
    if (!groups.has(set)) {
      const group = make("optgroup");
      group.label = set;
      groups.set(set, group);
      controls.run.append(group);
    }
    const option = make("option", "", `${run.model}, ${set.split(" / ").at(-1)} — ${run.share}`);
    option.value = number;
    groups.get(set).append(option);
  });

  const run = () => data.runs[controls.run.value];
  const set = () => data.sets[run().set];
  // scores of an item under a run -> what was chosen and by how much the best wrong candidate won (positive: wrong)
  const verdict = (scores, label) => {
    let best = -1;
    for (let n = 0; n < scores.length; n += 1) if (n !== label && (best < 0 || scores[n] > scores[best])) best = n;
    const margin = scores[best] - scores[label];
    return { chosen: margin >= 0 ? best : label, rival: best, margin, wrong: margin >= 0 };
  };
  const number = (value) => {
    const size = Math.abs(value);
    return size !== 0 && (size >= 1e4 || size < 1e-3) ? value.toExponential(2) : value.toFixed(size >= 100 ? 1 : 3);
  };

  const fillKinds = () => {
    const kept = controls.kind.value;
    const kinds = new Set(set().items.flatMap((item) => item.k.filter((kind) => kind !== "true")));
    controls.kind.replaceChildren(...["", ...[...kinds].sort()].map((kind) => {
      const option = make("option", "", kind ? kind.replaceAll("_", " ") : "every kind");
      option.value = kind;
      return option;
    }));
    controls.kind.value = kinds.has(kept) ? kept : "";
  };

  const filter = () => {
    const { items } = set();
    const { scores } = run();
    const words = controls.search.value.trim().toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const kind = controls.kind.value;
    const found = [];
    let scored = 0;
    items.forEach((item, n) => {
      if (!scores[n]) return;
      scored += 1;
      const result = verdict(scores[n], item.l);
      if (controls.outcome.value !== "all" && result.wrong !== (controls.outcome.value === "wrong")) return;
      if (kind && item.k[result.rival] !== kind) return;
      if (words.length) {
        const text = `${item.i} ${item.v} ${item.c.join(" ")}`.toLocaleLowerCase();
        if (!words.every((word) => text.includes(word))) return;
      }
      found.push([n, result.margin]);
    });
    const order = {
      worst: (a, b) => b[1] - a[1] || a[0] - b[0],
      best: (a, b) => a[1] - b[1] || a[0] - b[0],
      close: (a, b) => Math.abs(a[1]) - Math.abs(b[1]) || a[0] - b[0],
      id: (a, b) => a[0] - b[0],
    }[controls.sort.value];
    shown = found.sort(order).map(([n]) => n);
    $("count").textContent = `${shown.length.toLocaleString("en")} of ${scored.toLocaleString("en")} items`;
    list.replaceChildren(...(found.length ? [] : [make("li", "none", "No item fits these filters.")]));
    drawn = 0;
    current = -1;
    draw();
  };

  // Offsets count characters as Python does, so text is cut by code points.
  const highlighted = (text, edit) => {
    const cell = make("span");
    cell.dir = "auto";
    if (!edit) {
      cell.textContent = text;
      return cell;
    }
    const letters = Array.from(text);
    cell.append(letters.slice(0, edit[0]).join(""), make("mark", "", letters.slice(edit[0], edit[1]).join("")),
      letters.slice(edit[1]).join(""));
    return cell;
  };

  // Bars show by how much a candidate is above the item's lowest, on one scale for all items of a run: a close call looks
  // like one.
  const reach = () => {
    run().reach ??= run().scores.reduce((most, s) => (s ? Math.max(most, Math.max(...s) - Math.min(...s)) : most), 0) || 1;
    return run().reach;
  };

  const choices = (item, scores, result) => {
    const table = make("table", "choices");
    const low = Math.min(...scores);
    const wide = reach();
    const order = scores.map((_, n) => n).sort((a, b) => scores[b] - scores[a] || a - b);
    for (const n of order) {
      const row = table.insertRow();
      row.className = [n === item.l ? "true" : "", n === result.chosen ? "chosen" : ""].join(" ").trim();
      const sign = row.insertCell();
      sign.className = "sign";
      sign.textContent = n === item.l ? "✓" : n === result.chosen ? "✗" : "";
      sign.title = n === item.l ? "true caption" : n === result.chosen ? "chosen" : "";
      if (sign.title) sign.setAttribute("aria-label", sign.title);
      const said = row.insertCell();
      said.className = "said";
      said.append(highlighted(item.c[n], item.e?.[n]));
      const what = row.insertCell();
      what.className = "what";
      what.dir = "auto";
      what.textContent = item.k[n].replaceAll("_", " ") + (item.e?.[n]?.[2] ? ` · was “${item.e[n][2]}”` : "");
      const score = row.insertCell();
      score.className = "score";
      score.textContent = number(scores[n]);
      const gauge = row.insertCell();
      gauge.className = "gauge";
      const bar = make("i");
      bar.style.width = `${Math.round(100 * (scores[n] - low) / wide)}%`;
      gauge.append(bar);
    }
    return table;
  };

  const others = (n, label) => {
    const span = make("span", "others");
    data.runs.forEach((other) => {
      if (other === run() || other.set !== run().set || !other.scores[n]) return;
      const result = verdict(other.scores[n], label);
      span.append(make("span", result.wrong ? "no" : "", other.model));
    });
    return span;
  };

  const frames = (name, video) => {
    if (!data.strips[name]) return make("p", "nostrip", data.missing[name] ?? "Frames are shown for the worst failures only.");
    const picture = make("img", "strip");
    picture.src = data.strips[name];
    picture.decoding = "async";
    picture.alt = `Frames of ${video}, first to last`;
    return picture;
  };

  const card = (n, open) => {
    const item = set().items[n];
    const scores = run().scores[n];
    const result = verdict(scores, item.l);
    const strip = data.strips[item.s];
    const entry = make("li", "item");
    entry.tabIndex = -1;
    entry.dataset.n = n;
    if (!strip && !open) {
      entry.classList.add("compact");
      const brief = make("div", "brief");
      brief.append(make("span", "id", item.i));
      const was = make("span", "was");
      was.append(highlighted(item.c[item.l]));
      const instead = make("span", `said-instead${result.wrong ? "" : " right"}`);
      if (result.wrong) instead.append(highlighted(item.c[result.chosen], item.e?.[result.chosen]));
      brief.append(was, instead, make("span", "margin", number(-result.margin)));
      entry.append(brief);
      return entry;
    }
    const head = make("div", "head");
    head.append(make("b", "", item.i));
    if (item.v !== item.i) head.append(make("span", "", item.v));
    if (item.t) head.append(make("span", "", item.t));
    head.append(others(n, item.l), make("span", "margin", `${result.wrong ? "wrong" : "right"} by ${number(Math.abs(result.margin))}`));
    entry.append(head);
    if (item.q) entry.append(make("p", "question", item.q));
    if (item.w) entry.append(make("p", "question", item.w));
    if (item.p) {
      const pair = make("div", "pair");
      for (const [name, video, label] of [[item.s, item.v, item.l], ...item.p]) {
        const side = make("figure");
        side.append(frames(name, video), make("figcaption", "", item.c[label]));
        pair.append(side);
      }
      entry.append(pair);
    } else {
      entry.append(frames(item.s, item.v));
    }
    entry.append(choices(item, scores, result));
    return entry;
  };

  const draw = () => {
    const until = Math.min(shown.length, drawn + PAGE);
    for (; drawn < until; drawn += 1) list.append(card(shown[drawn], false));
    $("more").hidden = drawn >= shown.length;
  };
  $("more").addEventListener("click", draw);

  const select = (place, focus = true) => {
    if (!shown.length) return;
    place = Math.max(0, Math.min(shown.length - 1, place));
    while (drawn <= place) draw();
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    let entry = list.children[place];
    if (entry.classList.contains("compact") && focus === "open") {
      const opened = card(shown[place], true);
      entry.replaceWith(opened);
      entry = opened;
    }
    entry.setAttribute("aria-current", "true");
    current = place;
    if (focus) entry.focus({ preventScroll: true });
    if (focus) entry.scrollIntoView({ block: "nearest" });
  };
  const zoom = (entry) => {
    const picture = entry.querySelector("img.strip");
    if (!picture) return;
    $("zoom").querySelector("img").src = picture.src;
    $("zoom").querySelector("img").alt = picture.alt;
    $("zoom").querySelector("p").textContent = set().items[entry.dataset.n].c[set().items[entry.dataset.n].l];
    $("zoom").showModal();
  };
  list.addEventListener("click", (event) => {
    const entry = event.target.closest(".item");
    if (!entry || String(getSelection())) return;
    select([...list.children].indexOf(entry), entry.classList.contains("compact") ? "open" : false);
    if (event.target.classList.contains("strip")) zoom(entry);
  });

  const cycle = (control) => {
    const options = [...control.querySelectorAll("option")];
    control.value = options[(options.findIndex((o) => o.value === control.value) + 1) % options.length].value;
    control.dispatchEvent(new Event("change"));
  };
  const keys = {
    j: () => select(current + 1), ArrowDown: () => select(current + 1),
    k: () => select(current - 1), ArrowUp: () => select(current - 1),
    o: () => cycle(controls.outcome), t: () => cycle(controls.kind), s: () => cycle(controls.sort), m: () => cycle(controls.run),
    "/": () => { controls.search.scrollIntoView({ block: "center" }); controls.search.focus(); },
    Home: () => select(0), End: () => select(shown.length - 1),
    Enter: () => {
      if (current < 0) return;
      if (list.children[current].classList.contains("compact")) select(current, "open"); else zoom(list.children[current]);
    },
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("zoom").open) return;
    if (event.target.closest?.("input, select, textarea, button, summary, a")) {
      if (event.key !== "Escape") return;
      // browsers clear the field and tell nobody, since it loses the focus at once
      if (event.target === controls.search && event.target.value) { event.target.value = ""; filter(); }
      event.target.blur();
      return;
    }
    // Arrows and Home keep their meaning for the rest of the page: they walk only once an item is chosen.
    if (event.key.length > 1 && current < 0) return;
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  controls.run.addEventListener("change", () => { fillKinds(); filter(); });
  for (const name of ["outcome", "kind", "sort"]) controls[name].addEventListener("change", filter);
  let waiting;
  controls.search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  fillKinds();
  filter();
})();
