// Puts a button that copies below each text that is there to be copied. The text is whole without it: one click selects all of it.
"use strict";

for (const text of document.querySelectorAll(".copy")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch { // the browser lets only pages over https and of this machine write to the clipboard
      getSelection().selectAllChildren(text);
      button.textContent = "Selected: press Ctrl+C";
    }
  });
  text.after(button);
}
