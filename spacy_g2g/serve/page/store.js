// What the browser keeps: files as they were opened, and the corrected sentences of each. What it gives away: copies.

const done = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
const of = file => IDBKeyRange.bound([file], [file, []]);
let database = null;

async function stores(mode, work) {
  if (!database) {
    const opening = indexedDB.open("spacy-g2g", 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore("files", {keyPath: "key"});
      opening.result.createObjectStore("edits");
    };
    database = await done(opening);
    navigator.storage?.persist?.().catch(() => {});
  }
  const transaction = database.transaction(["files", "edits"], mode, {durability: "strict"});
  const found = work(transaction.objectStore("files"), transaction.objectStore("edits"));
  await new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
  return found?.result;
}

/** The key of a file: its name and a digest of its text (cyrb53). */
export function keyOf(name, text) {
  let high = 0xdeadbeef, low = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    high = Math.imul(high ^ text.charCodeAt(i), 2654435761);
    low = Math.imul(low ^ text.charCodeAt(i), 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return `${name}/${text.length}/${(4294967296 * (2097151 & low) + (high >>> 0)).toString(36)}`;
}

/** Keep a file: its key, name and text.
 *  opens: Whether it is being opened. If the page ends meanwhile, it is not the one to open next. */
export const keepFile = file => stores("readwrite", files => files.put({...file, time: Date.now()}));
/** Keep a corrected sentence of a file, or with -1 the number of the one that is shown; undefined forgets it. */
export const keep = (file, number, value) => stores("readwrite", (_, edits) =>
  value === undefined ? edits.delete([file, number]) : edits.put(value, [file, number]));
/** The files that are kept, the last one first. */
export async function keptFiles() {
  const kept = await stores("readonly", files => files.getAll()), age = ({opens, time}) => opens ? 0 : time;
  return kept.filter(file => [file.key, file.name, file.text].every(text => typeof text === "string"))
    .sort((a, b) => age(b) - age(a));
}
/** What is kept of a file, by the numbers of its sentences. */
export async function keptEdits(file) {
  const keys = await stores("readonly", (_, edits) => edits.getAllKeys(of(file)));
  const values = await stores("readonly", (_, edits) => edits.getAll(of(file)));
  return new Map(keys.map(([, number], i) => [number, values[i]]));
}
/** Forget a file and its corrections. */
export const forget = file => stores("readwrite", (files, edits) => { files.delete(file); edits.delete(of(file)); });

/** Save a text as a file. */
export function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type: "text/plain"}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

/** Copy a text to the clipboard. */
export async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // A page has a clipboard of its own only from this machine or by HTTPS.
  const area = document.createElement("textarea");
  document.body.append(area);
  area.value = text;
  area.select();
  document.execCommand("copy");
  area.remove();
}
