// Starts the editor's workers. This module is imported before all others: editors look for it when they are made.
const FOLDER = new URL("graphql-explorer/", document.baseURI);
const LANGUAGES = new Set(["graphql", "json"]);

globalThis.MonacoEnvironment = {
  getWorker(_id, label) {
    const language = LANGUAGES.has(label) ? label : "editor";
    return new Worker(new URL(`${language}.worker.js`, FOLDER), { name: label });
  },
};
