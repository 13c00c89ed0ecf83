// Keys: a digit chooses, 0 is "not clear", Enter submits. Typing into a field is left alone.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.target.closest?.("input[type=text], textarea, [contenteditable=true]");
  if (field) {
    // the name is given: the digits are for the options from now on
    if (event.key === "Enter" && field.closest("#name")) setTimeout(() => field.blur(), 100);
    return;
  }
  const options = [...document.querySelectorAll("#choice input[type=radio]")];
  if (/^[0-9]$/.test(event.key) && options.length) {
    const place = event.key === "0" ? options.length - 1 : Number(event.key) - 1;
    if (place < options.length) { options[place].click(); event.preventDefault(); }
  } else if (event.key === "Enter" && !event.target.closest?.("button")) {
    document.querySelector("#submit")?.click();
  }
});
