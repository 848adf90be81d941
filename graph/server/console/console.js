// What the pages do better with a script: times in the reader's zone, and buttons that copy. Each page is whole without it.
"use strict";

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const withDay = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });

for (const time of document.querySelectorAll("time[datetime]")) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.valueOf())) continue;
  const short = /^\d\d:\d\d$/.test(time.textContent);
  const named = time.textContent.endsWith(" UTC");
  time.title = time.title || time.textContent;
  time.textContent = (short ? clock : withDay).format(at) + (named ? " " + zone : "");
}
for (const named of document.querySelectorAll("[data-zone]")) named.textContent = zone;

for (const text of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.value);
      button.textContent = "Copied";
    } catch {
      text.select();
      button.textContent = "Selected: press Ctrl+C";
    }
  });
  text.after(button);
}
