/* Puts a button beside each text that is there to be copied. Needs no network and no library. */
(() => {
  "use strict";

  /* Where a page may not use the clipboard, the text is selected, and copied if the browser lets it. */
  async function copy(element) {
    try {
      await navigator.clipboard.writeText(element.textContent);
      return true;
    } catch {
      window.getSelection().selectAllChildren(element);
      return document.execCommand("copy");
    }
  }

  function addCopyButton(box) {
    if (box.querySelector(".copy-button")) return; // a page may ask for this script in several places
    const text = box.querySelector("pre");
    const row = document.createElement("div");
    row.className = "copy-row";
    row.innerHTML = '<span class="copy-status" role="status"></span>'
      + '<button type="button" class="copy-button">Copy</button>';
    const [status, button] = row.children;
    if (box.dataset.button) button.textContent = box.dataset.button;
    else button.setAttribute("aria-label", `Copy: ${box.dataset.name}`);
    button.addEventListener("click", async () => {
      status.textContent = await copy(text) ? "Copied" : "Selected: press Ctrl+C";
      setTimeout(() => { status.textContent = ""; }, 3000);
    });
    text.before(row);
  }

  document.querySelectorAll(".copied").forEach(addCopyButton);
  window.addCopyButton = addCopyButton; // for texts that a page makes later
})();
