// Tries the page of the GraphQL explorer as a person does: types a token and a query, and reads the answer.
//
// Reads FORGEWAY_URL and FORGEWAY_TOKEN; packages are found from the folder this script is started in.
import assert from "node:assert/strict";

import { openPage } from "./browser.mjs";

const host = process.env.FORGEWAY_URL.replace(/\/$/, "");
// The editor itself writes the bracket that closes the first one.
const QUERY = '{ currentUser { username } spoken: echo(text: "typed") ';
const EDITOR = ".graphiql-editors .monaco-editor";
const ANSWER = "document.querySelector('.result-window .view-lines')?.textContent";

const page = await openPage(process.cwd());
try {
  await page.visit(`${host}/-/graphql-explorer`);
  await page.eventually(`document.querySelector("${EDITOR} .view-line") !== null`);
  console.log("ok the page shows an editor");

  await page.click("#token");
  await page.type(process.env.FORGEWAY_TOKEN);
  await page.press("Tab", "Tab", 9);
  await page.click(EDITOR);
  await page.press("a", "KeyA", 65, true);
  await page.type(QUERY);
  await page.eventually(`document.querySelector('.graphiql-editors .view-lines').textContent.includes("typed")`);
  await page.press("Enter", "Enter", 13, true);
  // The editor breaks long lines, and writes blanks that do not break.
  const answer = (await page.eventually(`${ANSWER}?.includes("spoken") && ${ANSWER}`)).replace(/\s+/g, " ");
  assert.match(answer, /"username": "root"/);
  assert.match(answer, /"spoken": "\\"root\\" says: typed"/);
  console.log("ok a typed query is answered with the token of the page");

  await page.click('button[aria-label="Show Documentation Explorer"]');
  await page.eventually(`document.querySelector('.graphiql-doc-explorer-content')?.textContent.includes("Query")`);
  console.log("ok the schema is shown");

  const kept = await page.value("JSON.stringify({ ...localStorage, ...sessionStorage })");
  assert(!kept.includes(process.env.FORGEWAY_TOKEN), "the token was written down");
  assert.deepEqual(page.complaints, []);
  const own = (url) => url.startsWith(`${host}/`) || /^(data|blob|about):/.test(url);
  assert.deepEqual(page.requests.filter((url) => !own(url)), []);
  console.log("ok nothing came from elsewhere, and nothing was refused by the page's policy");
} finally {
  await page.close();
}
