// Shows how far evaluations are. Without it the page says so when it is loaded.
"use strict";

for (const row of document.querySelectorAll("tr[data-events]")) {
  const again = () => location.reload();
  rag.events(row.dataset.events, {
    job(status, source) {
      if (status.ended) { source.close(); again(); return; }
      const stage = (status.stages || []).find((s) => s.name === "questions");
      if (!stage) return;
      const bar = row.querySelector("progress");
      bar.max = stage.total;
      bar.value = stage.done;
      row.querySelector("[data-part=count]").textContent = `${stage.done} / ${stage.total}`;
    },
  }, (stop) => { stop(); again(); });
}
