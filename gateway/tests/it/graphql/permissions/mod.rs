//! Every field of the root, of projects and of groups, and every mutation, tried by every kind of caller: what the
//! table of abilities says is what happens.

mod callers;
mod smallest;

use std::fmt::Write as _;

use resolvers::abilities::{FIELDS, FieldRow};
use serde_json::Value;

use self::{
    callers::{COLUMNS, Caller, Home, blocked},
    smallest::Types,
};
use super::review::{REFUSED, answer};
use crate::support::TestApp;

/// Mutations of things of the caller's own, and those that ask for no right.
const OWN: [&str; 8] = [
    "echoCreate",
    "timelogDelete",
    "todoMarkDone",
    "todoRestore",
    "todoRestoreMany",
    "todosMarkAllDone",
    "userCalloutCreate",
    "userPreferencesUpdate",
];

fn row(on: &str, field: &str) -> Option<&'static FieldRow> {
    FIELDS.iter().copied().flatten().find(|row| row.on == on && row.field == field)
}

fn abilities(on: &str, field: &str) -> String {
    let names = row(on, field).map(|row| row.rules.iter().map(|rule| rule.name));
    names.map(|names| names.collect::<Vec<_>>().join(" | ")).unwrap_or_default()
}

/// What a caller is told: a value, nothing, an empty list, the refusal, or something else that went wrong.
fn letter(answer: &Value, path: &[&str]) -> char {
    if let Some(error) = answer["errors"].as_array().and_then(|errors| errors.first()) {
        return if error["message"] == REFUSED { 'x' } else { 'e' };
    }
    let value = path.iter().fold(&answer["data"], |value, name| &value[*name]);
    match value {
        Value::Null => '-',
        Value::Array(all) if all.is_empty() => '0',
        Value::Object(fields)
            if fields.get("nodes").is_some_and(|nodes| nodes == &Value::Array(Vec::new())) =>
        {
            '0'
        }
        Value::Object(fields)
            if fields
                .get("errors")
                .and_then(Value::as_array)
                .is_some_and(|all| !all.is_empty()) =>
        {
            'f'
        }
        _ => '.',
    }
}

/// Whether one of the row's abilities, as far as they are asked in projects and groups, is the caller's; nothing where
/// none of them is.
fn promised(row: &FieldRow, caller: &Caller<'_>) -> Option<bool> {
    let who = caller.standing();
    let here = row.rules.iter().filter(|rule| rule.scope != "Instance");
    let each: Vec<bool> = here
        .map(|rule| (rule.open || who.signed_in()) && who.visible && (rule.allows)(&who))
        .collect();
    (!each.is_empty() && each.len() == row.rules.len()).then(|| each.contains(&true))
}

/// As [`promised`], of a field of the root, whose abilities may be asked in the installation as well.
fn promised_at_root(row: &FieldRow, caller: &Caller<'_>) -> bool {
    let who = caller.standing();
    row.rules.iter().any(|rule| {
        let is_seen = rule.scope == "Instance" || who.visible;
        (rule.open || who.signed_in()) && is_seen && (rule.allows)(&who)
    })
}

fn ensure_none(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} answers differ from the table:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Where a record is that fields are asked of: fields with their arguments, from the root on.
type FieldPath = Vec<String>;

/// A query of a field of a record, and where its answer stands.
fn query_of(way: &[String], field: &str) -> (String, Vec<String>) {
    let mut query = field.to_owned();
    for (depth, step) in way.iter().enumerate().rev() {
        query = format!("r{depth}: {step} {{ {query} }}");
    }
    (format!("{{ {query} }}"), (0..way.len()).map(|depth| format!("r{depth}")).collect())
}

/// Asks for each field of a record as every caller.
async fn try_fields(on: &str, way: impl Fn(&Home<'_>) -> FieldPath) -> String {
    let app = TestApp::new();
    let (types, home) = (Types::read(), Home::new(&app, 0).await);
    home.run().await;
    let (mut table, mut wrong) = (COLUMNS.to_owned(), Vec::new());
    let callers = home.callers();
    for name in types.names(on) {
        let mut line = String::new();
        let (query, places) = query_of(&way(&home), &types.field(on, &name, &home.place));
        let path: Vec<&str> = places.iter().map(String::as_str).chain([name.as_str()]).collect();
        for caller in &callers {
            let answer = answer(&caller.person, &query).await;
            let told = letter(&answer, &path);
            line.push(told);
            let promise =
                row(on, &name).map_or(Some(caller.standing().visible), |row| promised(row, caller));
            let hidden = matches!(told, '-' | '0');
            if (promise == Some(false) && !hidden) || (promise == Some(true) && told == 'x') {
                wrong.push(format!("{on}.{name} by {}: {answer}", caller.person.username));
            }
        }
        writeln!(table, "{line} {name} {}", abilities(on, &name)).expect("text grows");
    }
    ensure_none(&wrong);
    table
}

#[actix_web::test]
async fn fields_of_projects_keep_to_their_rows() {
    let table = try_fields("Project", |home| vec![project(home)]).await;
    insta::assert_snapshot!("fields_of_projects", table);
}

#[actix_web::test]
async fn fields_of_groups_keep_to_their_rows() {
    let table =
        try_fields("Group", |home| vec![format!("group(fullPath: {:?})", home.place.group)]).await;
    insta::assert_snapshot!("fields_of_groups", table);
}

fn project(home: &Home<'_>) -> String {
    format!("project(fullPath: {:?})", home.place.project)
}

#[actix_web::test]
async fn fields_of_repositories_keep_to_their_rows() {
    let table = try_fields("Repository", |home| vec![project(home), "repository".to_owned()]).await;
    insta::assert_snapshot!("fields_of_repositories", table);
}

#[actix_web::test]
async fn fields_of_environments_keep_to_their_rows() {
    let environment = r#"environment(name: "production")"#.to_owned();
    let way = |home: &Home<'_>| vec![project(home), environment.clone()];
    insta::assert_snapshot!("fields_of_environments", try_fields("Environment", way).await);
}

#[actix_web::test]
async fn fields_of_issues_keep_to_their_rows() {
    let way = |home: &Home<'_>| vec![project(home), r#"issue(iid: "1")"#.to_owned()];
    insta::assert_snapshot!("fields_of_issues", try_fields("Issue", way).await);
}

#[actix_web::test]
async fn fields_of_merge_requests_keep_to_their_rows() {
    let way = |home: &Home<'_>| vec![project(home), r#"mergeRequest(iid: "1")"#.to_owned()];
    insta::assert_snapshot!("fields_of_merge_requests", try_fields("MergeRequest", way).await);
}

#[actix_web::test]
async fn fields_of_pipelines_keep_to_their_rows() {
    let way = |home: &Home<'_>| vec![project(home), r#"pipeline(iid: "1")"#.to_owned()];
    insta::assert_snapshot!("fields_of_pipelines", try_fields("Pipeline", way).await);
}

/// What tells everybody the same.
const OPEN: [&str; 6] =
    ["designManagement", "echo", "queryComplexity", "runnerPlatforms", "runnerSetup", "topics"];

#[actix_web::test]
async fn fields_of_the_root_show_no_stranger_anything_private() {
    let app = TestApp::new();
    let (types, home) = (Types::read(), Home::new(&app, 0).await);
    let (mut table, mut wrong) = (COLUMNS.to_owned(), Vec::new());
    let callers = home.callers();
    for name in types.names("Query") {
        let mut line = String::new();
        let query = format!("{{ {} }}", types.field("Query", &name, &home.place));
        for caller in &callers {
            let answer = answer(&caller.person, &query).await;
            let told = letter(&answer, &[&name]);
            line.push(told);
            let is_private = told == '.' && !OPEN.contains(&name.as_str());
            let denied = row("Query", &name).is_some_and(|row| !promised_at_root(row, caller));
            if (caller.person.token.is_none() || denied) && is_private {
                wrong.push(format!("{name} by nobody: {answer}"));
            }
        }
        writeln!(table, "{line} {name} {}", abilities("Query", &name)).expect("text grows");
    }
    ensure_none(&wrong);
    insta::assert_snapshot!("fields_of_the_root", table);
}

#[actix_web::test]
async fn mutations_refuse_whoever_may_not() {
    let app = TestApp::new();
    let types = Types::read();
    let (mut table, mut wrong) = (COLUMNS.to_owned(), Vec::new());
    let mut unchanged = None;
    for (number, name) in types.names("Mutation").into_iter().enumerate() {
        let (home, callers) = match unchanged.take() {
            Some(place) => place,
            None => {
                let home = Home::new(&app, number).await;
                let callers = home.callers();
                (home, callers)
            }
        };
        let query = format!("mutation {{ {} }}", types.field("Mutation", &name, &home.place));
        let mut line = String::new();
        for caller in &callers {
            let answer = answer(&caller.person, &query).await;
            let told = letter(&answer, &[&name]);
            line.push(told);
            let own = OWN.contains(&name.as_str());
            let nobody = caller.person.token.is_none();
            let denied =
                row("Mutation", &name).and_then(|row| promised(row, caller)) == Some(false);
            let refused = matches!(told, 'x' | 'e');
            if (nobody || caller.reads_only || (denied && !own)) && !refused {
                wrong.push(format!("{name} by {}: {answer}", caller.person.username));
            }
        }
        writeln!(table, "{line} {name} {}", abilities("Mutation", &name)).expect("text grows");
        // Where nobody changed anything, the next mutation finds the same as in a place of its own.
        unchanged = (!line.contains('.')).then_some((home, callers));
    }
    ensure_none(&wrong);
    insta::assert_snapshot!("mutations", table);
}

#[actix_web::test]
async fn somebody_who_is_blocked_is_told_nothing() {
    let app = TestApp::new();
    let (types, home) = (Types::read(), Home::new(&app, 0).await);
    let person = blocked(&home);
    let asked = [("Query", "query"), ("Mutation", "mutation")];
    for (on, verb) in asked {
        for name in types.names(on) {
            let query = format!("{verb} {{ {} }}", types.field(on, &name, &home.place));
            let body = serde_json::json!({ "query": query });
            let refusal =
                serde_json::json!({ "errors": [{ "message": "API not accessible for user" }] });
            person.post("//api/graphql", body).await.refused(403, refusal);
        }
    }
}

#[test]
fn the_table_names_what_there_is() {
    let types = Types::read();
    for row in FIELDS.iter().copied().flatten() {
        let known = types.names(row.on).iter().any(|name| name == row.field);
        assert!(known, "{}.{} is no field", row.on, row.field);
    }
    let all = types.names("Mutation");
    let rowless: Vec<&String> = all
        .iter()
        .filter(|name| row("Mutation", name).is_none() && !OWN.contains(&name.as_str()))
        .collect();
    assert!(rowless.is_empty(), "mutations without a row: {rowless:?}");
}
