/* Puts a button beside each text that is there to be copied. Needs no network and no library. */
(function () {
  "use strict";

  function select(element) {
    var range = document.createRange();
    range.selectNodeContents(element);
    var selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  }

  /* Pages opened from a file, and old browsers, may not use the clipboard directly. */
  function copySelected(element) {
    select(element);
    return document.execCommand("copy");
  }

  function copy(element) {
    if (!navigator.clipboard) {
      return Promise.resolve(copySelected(element));
    }
    return navigator.clipboard.writeText(element.textContent).then(
      function () { return true; },
      function () { return copySelected(element); }
    );
  }

  function addCopyButton(box) {
    var text = box.querySelector("pre");
    var button = document.createElement("button");
    button.type = "button";
    button.className = "copy-button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy: " + box.dataset.name);
    var status = document.createElement("span");
    status.className = "copy-status";
    status.setAttribute("role", "status");
    button.addEventListener("click", function () {
      copy(text).then(function (done) {
        status.textContent = done ? "Copied" : "Selected: press Ctrl+C";
        if (!done) { select(text); }
        window.setTimeout(function () { status.textContent = ""; }, 3000);
      });
    });
    var row = document.createElement("div");
    row.className = "copy-row";
    row.append(status, button);
    box.insertBefore(row, text);
  }

  document.querySelectorAll(".copied").forEach(addCopyButton);
  window.addCopyButton = addCopyButton; // for texts that a page makes later
})();
