// Holds the written schema and the clients' queries against the package graphql, and drives the GraphQL interface of a
// running Forgeway through the unmodified @apollo/client.
//
// Reads FORGEWAY_URL and FORGEWAY_TOKEN; packages are found from the folder this script is started in.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "package.json"));
const { buildClientSchema, buildSchema, getIntrospectionQuery, parse, printSchema, validate, validateSchema } =
  require("graphql");
const { ApolloClient, HttpLink, InMemoryCache, gql } = require("@apollo/client");
const { relayStylePagination } = require("@apollo/client/utilities");

const host = process.env.FORGEWAY_URL.replace(/\/$/, "");
const token = process.env.FORGEWAY_TOKEN;
const at = (path) => new URL(`../../${path}`, import.meta.url);
const written = (path) => readFileSync(at(path), "utf8");
const schema = buildClientSchema(JSON.parse(written("docs/schema.json")).data);
const PATH = "smoke-graphql-node";

async function rest(method, path, body) {
  const headers = { "PRIVATE-TOKEN": token, "Content-Type": "application/json" };
  const answer = await fetch(`${host}/api/v4${path}`, { method, headers, body: body && JSON.stringify(body) });
  assert(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.status === 204 ? null : answer.json();
}

const client = new ApolloClient({
  link: new HttpLink({ uri: `${host}/api/graphql`, headers: { Authorization: `Bearer ${token}` } }),
  cache: new InMemoryCache({ typePolicies: { Project: { fields: { issues: relayStylePagination() } } } }),
});

const ISSUES = gql`
  query Issues($path: ID!, $after: String) {
    project(fullPath: $path) {
      id
      issues(first: 2, after: $after, sort: CREATED_ASC) {
        edges { cursor node { id iid title } }
        pageInfo { endCursor hasNextPage hasPreviousPage startCursor }
      }
    }
  }
`;

const steps = {
  "the written schema is sound"() {
    assert.deepEqual(validateSchema(schema), []);
    const texts = buildSchema(written("docs/schema.graphql"));
    assert.deepEqual(validateSchema(texts), []);
    assert.deepEqual(Object.keys(texts.getTypeMap()).sort(), Object.keys(schema.getTypeMap()).sort());
    assert(schema.getDirective("gl_introduced"), "a directive is missing");
  },

  "the clients' queries fit the schema"() {
    const folder = "gateway/tests/it/graphql/clients/";
    const names = readdirSync(at(folder));
    assert(names.length > 10);
    for (const name of names) {
      const mistakes = validate(schema, parse(written(folder + name)));
      assert.deepEqual(mistakes.map(String), [], name);
    }
  },

  async "the server tells the written schema to anybody"() {
    const body = JSON.stringify({ query: getIntrospectionQuery({ inputValueDeprecation: true }) });
    const headers = { "Content-Type": "application/json" };
    const answer = await (await fetch(`${host}/api/graphql`, { method: "POST", headers, body })).json();
    assert.equal(answer.errors, undefined);
    assert.equal(printSchema(buildClientSchema(answer.data)), printSchema(schema));
  },

  async "Apollo pages through a connection"() {
    const variables = { path: `root/${PATH}` };
    const watched = client.watchQuery({ query: ISSUES, variables });
    const loaded = (done, error) => watched.subscribe({ next: (result) => result.loading || done(result), error });
    let page = (await new Promise(loaded)).data.project.issues.pageInfo;
    for (let pages = 1; page.hasNextPage; pages += 1) {
      assert(pages < 3, "the list does not end");
      const { data } = await watched.fetchMore({ variables: { after: page.endCursor } });
      page = data.project.issues.pageInfo;
    }
    const data = client.readQuery({ query: ISSUES, variables });
    const found = data.project.issues.edges.map((edge) => edge.node.title);
    assert.deepEqual(found, ["one", "two", "three", "four", "five"]);
    assert.equal(data.project.issues.edges[0].node.__typename, "Issue");
  },

  async "Apollo changes a record, and its cache follows"() {
    const mutation = gql`
      mutation ($input: UpdateIssueInput!) {
        updateIssue(input: $input) { issue { id title } errors }
      }
    `;
    const input = { projectPath: `root/${PATH}`, iid: "1", title: "first" };
    const { data } = await client.mutate({ mutation, variables: { input } });
    assert.deepEqual(data.updateIssue.errors, []);
    const kept = client.readQuery({ query: ISSUES, variables: { path: `root/${PATH}` } });
    assert.equal(kept.project.issues.edges[0].node.title, "first");
  },

  async "errors reach Apollo's caller"() {
    const query = gql`{ nothing }`;
    await assert.rejects(client.query({ query }), /doesn't exist on type 'Query'/);
  },
};

const project = await rest("POST", "/projects", { name: "Smoke", path: PATH, visibility: "private" });
let failed = 0;
try {
  for (const title of ["one", "two", "three", "four", "five"]) {
    await rest("POST", `/projects/${project.id}/issues`, { title });
  }
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step();
      console.log(`graphql: ${name}: ok`);
    } catch (error) {
      failed += 1;
      console.log(`graphql: ${name}: FAILED\n${error.stack}`);
    }
  }
} finally {
  await rest("DELETE", `/projects/${project.id}`);
}
process.exitCode = failed > 0 ? 1 : 0;
