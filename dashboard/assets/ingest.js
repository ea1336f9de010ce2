// Uploads file by file with progress, and follows a job. Without it the pages work by forms.
"use strict";

// files lists what was dropped with the folders it lies in: [[name, File], …].
async function dropped(items) {
  const found = [];
  const walk = async (entry, base) => {
    if (entry.isFile) {
      found.push([base + entry.name, await new Promise((ok, no) => entry.file(ok, no))]);
      return;
    }
    const reader = entry.createReader(); // it gives a hundred at a time
    for (;;) {
      const some = await new Promise((ok, no) => reader.readEntries(ok, no));
      if (!some.length) return;
      for (const one of some) await walk(one, base + entry.name + "/");
    }
  };
  for (const entry of [...items].map((i) => i.webkitGetAsEntry()).filter(Boolean)) await walk(entry, "");
  return found.filter(([name]) => !name.split("/").some((part) => part.startsWith(".")));
}

// uploading sends files one after the other into one batch, and then goes to the page where it is decided on.
async function uploading(form, files, manifest) {
  const table = document.getElementById("uploading"), body = table.tBodies[0], text = form.dataset;
  table.hidden = false;
  const rows = files.map(([name]) => {
    const row = body.insertRow(), bar = document.createElement("progress");
    const head = row.appendChild(document.createElement("th"));
    head.scope = "row"; head.textContent = name;
    row.insertCell().textContent = text.waiting;
    bar.max = 1; bar.value = 0; bar.setAttribute("aria-label", name);
    row.insertCell().append(bar);
    return row;
  });
  const action = new URL(form.action), next = document.querySelector("#upload-next a");
  action.searchParams.set("format", "json");
  let refused = 0;
  const send = (field, name, file, row) => new Promise((done) => {
    const say = (word, why) => { if (row) row.cells[1].textContent = why ? `${word}: ${why}` : word; };
    const data = new FormData(), call = new XMLHttpRequest();
    data.append(field, file, name);
    call.upload.onprogress = (e) => { if (row && e.lengthComputable) row.querySelector("progress").value = e.loaded / e.total; };
    call.onerror = () => { refused++; say(text.broken); done(); };
    call.onload = () => {
      let answer = {};
      try { answer = JSON.parse(call.responseText); } catch { /* a gateway's page */ }
      const no = answer.refused && answer.refused[0];
      if (call.status !== 200 || no) { refused++; say(text.refused, no ? no.reason : answer.cause || call.statusText); }
      else say(text.sent);
      if (answer.batch) {
        action.pathname = new URL(form.action).pathname + "/" + answer.batch.id;
        next.href = answer.next;
        next.dataset.ready = "1";
      }
      done();
    };
    say(text.sending);
    call.open("POST", action);
    call.send(data);
  });
  for (let i = 0; i < files.length; i++) await send("files", files[i][0], files[i][1], rows[i]);
  if (manifest && next.dataset.ready) await send("manifest", "manifest.jsonl", manifest, null);
  rag.say(`${files.length - refused}/${files.length}`);
  if (!next.dataset.ready) return;
  if (!refused) location.assign(next.href);
  next.parentElement.hidden = false;
  next.focus();
}

const form = document.getElementById("upload-form");
if (form) {
  const pick = document.getElementById("pick-files"), folder = document.getElementById("pick-folder"), zone = document.getElementById("drop");
  const manifest = () => { const m = document.getElementById("pick-manifest"); return m && m.files[0]; };
  form.addEventListener("submit", (e) => {
    const files = [...pick.files].map((f) => [f.name, f]).concat([...folder.files].map((f) => [f.webkitRelativePath, f]));
    e.preventDefault();
    if (files.length) uploading(form, files, manifest());
  });
  for (const name of ["dragenter", "dragover"]) zone.addEventListener(name, (e) => { e.preventDefault(); zone.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
  zone.addEventListener("drop", async (e) => {
    e.preventDefault();
    const files = await dropped(e.dataTransfer.items);
    if (files.length) uploading(form, files, manifest());
  });
}

// A job under way: its rows are replaced as they change, and the page is loaded anew when it has ended.
const job = document.getElementById("job");
if (job && job.dataset.events) {
  const rows = document.getElementById("job-rows");
  let seq = job.dataset.seq, said = 0;
  const apply = (change) => {
    seq = change.seq;
    if (change.ended) { location.reload(); return; }
    job.innerHTML = change.summary; // made by the server's templates, which escape
    job.dataset.state = change.state;
    for (const row of change.rows) {
      const old = document.getElementById(row.id), made = document.createElement("tbody");
      made.innerHTML = row.html;
      if (old) old.replaceWith(made.firstElementChild); else rows.prepend(made.firstElementChild);
    }
    while (rows.rows.length > Number(job.dataset.limit)) rows.lastElementChild.remove();
    if (Date.now() - said > 5000) { said = Date.now(); rag.say(change.say); } // not every change: a reader is being read to
  };
  const events = new URL(job.dataset.events, location.href);
  events.searchParams.set("last_event_id", seq);
  rag.events(events, { change: apply }, (stop) => {
    const url = new URL(job.dataset.changes, location.href);
    url.searchParams.set("after", seq);
    fetch(url).then((r) => r.json()).then((c) => { if (c.ended) stop(); apply(c); }).catch(() => {}); // asked again in two seconds
  });
}
