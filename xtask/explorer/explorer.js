// The explorer's page: GraphiQL, and above it the field for the token that queries are sent with. The token is kept in
// the field alone; a change of it asks for the schema anew, because GraphiQL does so for each new fetcher.
import "./workers.js";
import "@graphiql/react/style.css";
import "@graphiql/plugin-doc-explorer/style.css";
import "@graphiql/plugin-history/style.css";
import "graphiql/graphiql.css";
import "./explorer.css";
import { GraphiQL } from "graphiql";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

import { fetcherWith } from "./fetcher.js";

const FIRST_QUERY = `query {
  currentUser { username }
  metadata { version }
  queryComplexity { score limit }
}
`;

const token = document.getElementById("token");
const root = createRoot(document.getElementById("explorer"));

function render() {
  const secret = token.value.trim();
  root.render(createElement(GraphiQL, {
    fetcher: fetcherWith(() => secret),
    defaultQuery: FIRST_QUERY,
    // A header may hold a secret: none is written down in the browser.
    shouldPersistHeaders: false,
  }));
}

token.addEventListener("change", render);
render();
