// The page on which people judge, write and read. `store` says where items come from and where answers go; an item has
// `id`, `status`, `clip`, `texts` ([label, before, marked, after, hint]), `answers` (question -> [value, key, name, why])
// or a `text` to change, and what was `chosen` before. Without `id` nothing is left; without `status` the item stays.
function annotate(root, legends, store) {
  const el = (id) => root.querySelector("#" + id);
  const make = (tag, of, ...inside) => { const node = Object.assign(document.createElement(tag), of); node.append(...inside); return node; };
  const [name, text, video] = ["#name input", "#text textarea", "#video video"].map((own) => root.querySelector(own));
  let item = null, chosen = {}, since = 0, busy = false;

  function show(next) {
    el("message").textContent = next.message || "";
    if (!("status" in next)) return;
    item = "id" in next ? next : null;
    chosen = { ...next.chosen }; since = performance.now();
    el("status").textContent = next.status;
    el("item").hidden = !item; el("who").hidden = Boolean(item) || !store.shared;
    if (el("end")) el("end").hidden = Boolean(item);
    if (!item) return video.removeAttribute("src");
    el("note").textContent = item.note || ""; el("note").hidden = !item.note;
    el("video").hidden = !item.clip; if (item.clip) video.src = item.clip;
    el("sentence").hidden = !item.texts.length;
    el("sentence").replaceChildren(...item.texts.flatMap(([label, before, marked, after, hint]) => [
      ...(label ? [make("div", { className: "label" }, label)] : []),
      make("div", { className: "text" }, before, make("mark", {}, marked), after), ...(hint ? [make("small", {}, hint)] : [])]));
    el("questions").replaceChildren(...Object.entries(item.answers).map(([question, answers]) =>
      make("fieldset", { id: question }, make("legend", {}, legends[question]), ...answers.map(([value, key, word, why]) => make("label", { className: "answer" },
        make("input", { type: "radio", name: question, checked: chosen[question] === value, onchange: () => choose(question, value) }),
        make("span", {}, word), make("kbd", {}, key), ...(why ? [make("small", {}, why)] : []))))));
    el("text").hidden = !("text" in item); text.value = item.text || "";
    el("submit").hidden = !store.shared; el("previous").hidden = el("next").hidden = store.shared;
    if (!store.shared) { el("previous").disabled = !store.move(-1); el("next").disabled = !store.move(1); }
  }
  function choose(question, value) {
    chosen[question] = value;
    item.answers[question].forEach(([own], n) => { el(question).querySelectorAll("input")[n].checked = own === value; });
    if (!store.shared) store.keep(item, chosen);
    if (!store.shared && Object.keys(legends).every((own) => own in chosen)) submit();
  }
  async function submit() {
    if (busy) return;
    busy = true;
    try { show(await store.answer(item, "text" in item ? text.value : chosen, (performance.now() - since) / 1000)); }
    catch { el("message").textContent = "The server did not answer: try again."; }
    busy = false;
  }
  async function begin() {
    if (!name.value.trim()) return;
    el("rules").open = false;
    name.blur(); // a hidden field keeps the focus until the next frame, and with it the first keys
    show(await store.begin(name.value.trim().replace(/\s+/g, " ")));
  }
  const go = (step) => { if (!store.shared && store.move(step)) show(store.move(step, true)); };
  el("who").addEventListener("submit", (event) => { event.preventDefault(); begin(); });
  el("submit").addEventListener("click", submit);
  el("previous").addEventListener("click", () => go(-1)); el("next").addEventListener("click", () => go(1));
  if (el("load")) el("load").addEventListener("change", async () => {
    const reader = store.load(await el("load").files[0].text());
    el("message").textContent = reader ? "" : "This file holds no votes of this page.";
    if (reader) { name.value = reader; begin(); }
  });
  for (const id of ["save", "save-end"]) if (el(id)) el(id).addEventListener("click", store.save);
  if (el("look")) el("look").addEventListener("click", () => go(-1));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !item || !root.isConnected) return;
    const typing = event.target.closest?.("input:not([type=radio]), textarea");
    if (event.key === "Enter" && store.shared && (!typing || typing === text) && !event.target.closest?.("button")) {
      event.preventDefault(); submit();
    }
    if (typing) return;
    for (const [question, answers] of Object.entries(item.answers))
      for (const [value, key] of answers) if (key === event.key.toLowerCase()) { event.preventDefault(); return choose(question, value); }
    if (["ArrowLeft", "Backspace", "ArrowRight"].includes(event.key) && !store.shared) {
      event.preventDefault(); go(event.key === "ArrowRight" ? 1 : -1);
    }
  });
}

// Items and answers of many people, dealt out by the server.
function onServer(server) {
  let person = "";
  return {
    shared: true,
    begin: (name) => server.served({ person: (person = name) }),
    answer: (item, answer, seconds) =>
      server.served({ person, item: item.id, answer: typeof answer === "string" ? answer : answer.choice, seconds }),
  };
}

// The pairs of a file, of which one person's votes stay in this browser until they are saved.
function inBrowser(data) {
  const order = [...data.pairs.map((pair) => [pair, "1"]), ...data.pairs.slice(0, data.again).map((pair) => [pair, "2"])];
  const questions = Object.keys(data.answers);
  let reader = "", votes = {}, at = 0, saved = true;
  const key = () => "video-contrast-reading-" + data.reading + "-" + reader;
  const of = (n) => votes[order[n][0][0] + " " + order[n][1]] || {};
  const done = (n) => questions.every((question) => of(n)[question]);
  const voted = () => order.filter((_, n) => done(n)).length;
  function marked(text, other) { // what a text has in place of the other's words
    const a = text.split(" "), b = other.split(" ");
    let head = 0, tail = 0;
    while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
    while (tail < Math.min(a.length, b.length) - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
    const before = a.slice(0, head).join(" "), after = a.slice(a.length - tail).join(" ");
    return [before + (before ? " " : ""), a.slice(head, a.length - tail).join(" "), tail ? " " + after : ""];
  }
  function current() {
    document.getElementById("save").disabled = !voted();
    let message = "";
    try { localStorage.setItem(key(), JSON.stringify(votes)); }
    catch { message = "This browser keeps nothing of a page from disk: save your votes before you close it."; }
    if (at >= order.length) return { status: voted() + " voted", message };
    const [[id, original, edited], look] = order[at];
    const texts = [["original (true)", ...marked(original, edited)], ["edited", ...marked(edited, original)]];
    const status = (at + 1) + " of " + order.length + (look === "2" ? " (again)" : "") + ", " + voted() + " voted";
    return { id: id + " " + look, status, message, texts, answers: data.answers, chosen: of(at) };
  }
  window.addEventListener("beforeunload", (event) => { if (!saved) event.preventDefault(); });
  return {
    shared: false,
    begin(name) {
      reader = name;
      try { votes = { ...JSON.parse(localStorage.getItem(key())), ...votes }; } catch { /* nothing is kept */ }
      at = order.findIndex((_, n) => !done(n));
      if (at < 0) at = order.length;
      return current();
    },
    keep(item, chosen) { votes[item.id] = { ...chosen }; }, // one of two votes, too, if the reader leaves the pair
    answer(item, chosen) { votes[item.id] = chosen; at++; saved = false; return current(); },
    move(step, taken) { // whether there is a pair in that direction; the item, if it is taken
      const open = step < 0 ? at > 0 : at < order.length && done(at);
      if (taken) at += step;
      return taken ? current() : open;
    },
    load(text) { // the reader whose votes a file holds
      const [head, ...lines] = text.split("\n");
      const name = head.match(/^# Votes of (.*) on reading (\S+)/);
      if (!name || name[2] !== data.reading) return "";
      for (const line of lines.slice(1)) {
        const [pair, look, ...given] = line.split("\t");
        if (given.length === questions.length) votes[pair + " " + look] = Object.fromEntries(questions.map((question, n) => [question, given[n]]));
      }
      return name[1];
    },
    save() {
      const lines = ["# Votes of " + reader + " on reading " + data.reading, "pair\tlook\t" + questions.join("\t")];
      order.forEach(([pair, look], n) => {
        if (done(n)) lines.push([pair[0], look, ...questions.map((question) => of(n)[question])].join("\t"));
      });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/tab-separated-values" }));
      link.download = "votes-" + reader.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-") + ".tsv";
      link.click(); setTimeout(() => URL.revokeObjectURL(link.href), 1000); saved = true;
    },
  };
}
