//! Issues by GraphQL.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::{Private, Public},
};
use serde_json::{Value, json};

use super::review::{REFUSED, answer, ask, mutate, nodes, refusal};
use crate::support::{Person, TestApp};

const AT: &str = r#"projectPath: "ada/forge", iid: "1""#;

async fn write(person: &Person<'_>, project: impl std::fmt::Display, fields: Value) -> i64 {
    let made = person.post(&format!("/projects/{project}/issues"), fields).await.created();
    made["id"].as_i64().expect("an id")
}

fn list(filters: &str) -> String {
    let filters = if filters.is_empty() { String::new() } else { format!("({filters})") };
    format!(
        r#"{{ project(fullPath: "ada/forge") {{ issues{filters} {{ count nodes {{ title }} }} }} }}"#
    )
}

async fn titles(person: &Person<'_>, filters: &str) -> Vec<Value> {
    nodes(&ask(person, &list(filters)).await["project"]["issues"], "title")
}

#[actix_web::test]
async fn an_issue_tells_what_its_rest_record_tells() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let fields = json!({ "title": "Leak", "description": "- [x] a\n- [ ] b", "weight": 3, "due_date": "2026-12-31" });
    let id = write(&ada, project, fields).await;
    let query = format!(
        r#"{{ issue(id: "gid://gitlab/Issue/{id}") {{ id iid title state type weight dueDate confidential
           reference(full: true) webPath author {{ username }} taskCompletionStatus {{ count completedCount }}
           userPermissions {{ updateIssue createNote createDesign }} blocked hasEpic moved }} }}"#
    );
    let shown = ask(&ada, &query).await["issue"].clone();
    assert_eq!(shown["id"], format!("gid://gitlab/Issue/{id}"));
    assert_eq!(
        (&shown["iid"], &shown["state"], &shown["type"]),
        (&json!("1"), &json!("opened"), &json!("ISSUE"))
    );
    assert_eq!((&shown["weight"], &shown["dueDate"]), (&json!(3), &json!("2026-12-31T00:00:00Z")));
    assert_eq!(
        (&shown["reference"], &shown["webPath"]),
        (&json!("ada/forge#1"), &json!("/ada/forge/-/issues/1"))
    );
    assert_eq!(shown["author"]["username"], "ada");
    assert_eq!(shown["taskCompletionStatus"], json!({ "count": 2, "completedCount": 1 }));
    let may = json!({ "updateIssue": true, "createNote": true, "createDesign": false });
    assert_eq!(shown["userPermissions"], may);
    assert_eq!(
        (&shown["blocked"], &shown["hasEpic"], &shown["moved"]),
        (&json!(false), &json!(false), &json!(false))
    );
}

#[actix_web::test]
async fn issues_are_listed_by_filters_negations_and_alternatives() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let project = app.project(&ada, "forge", Public);
    app.member(project, "bob", Reporter);
    let given = json!([app.user("bob").id.0]);
    write(&ada, project, json!({ "title": "A", "labels": "red", "assignee_ids": given })).await;
    write(&bob, project, json!({ "title": "B", "labels": "red,blue", "weight": 5 })).await;
    write(&ada, project, json!({ "title": "C", "issue_type": "incident" })).await;

    assert_eq!(titles(&ada, "").await, ["C", "B", "A"]);
    assert_eq!(titles(&ada, "sort: TITLE_ASC").await, ["A", "B", "C"]);
    assert_eq!(titles(&ada, r#"labelName: ["red", "blue"]"#).await, ["B"]);
    assert_eq!(titles(&ada, r#"labelName: "red", sort: CREATED_ASC"#).await, ["A", "B"]);
    assert_eq!(titles(&ada, r#"labelName: "None""#).await, ["C"]);
    assert_eq!(titles(&ada, r#"assigneeUsernames: "bob""#).await, ["A"]);
    assert_eq!(titles(&ada, r#"assigneeId: "NONE""#).await, ["C", "B"]);
    assert_eq!(titles(&ada, r#"authorUsername: "bob""#).await, ["B"]);
    assert_eq!(titles(&ada, r#"authorUsername: "nobody""#).await, Vec::<Value>::new());
    assert_eq!(titles(&ada, "types: [INCIDENT]").await, ["C"]);
    assert_eq!(titles(&ada, r#"weight: "5""#).await, ["B"]);
    assert_eq!(titles(&ada, r#"iids: ["1", "3"]"#).await, ["C", "A"]);
    assert_eq!(titles(&ada, r#"search: "b", in: [TITLE]"#).await, ["B"]);
    assert_eq!(titles(&ada, r#"not: { labelName: "blue" }"#).await, ["C", "A"]);
    assert_eq!(titles(&ada, r#"not: { types: [INCIDENT] }"#).await, ["B", "A"]);
    assert_eq!(titles(&ada, r#"not: { authorUsername: "bob" }"#).await, ["C", "A"]);
    let either = r#"or: { authorUsernames: ["bob"], labelNames: ["red"] }"#;
    assert_eq!(titles(&ada, either).await, ["B"]);
}

#[actix_web::test]
async fn a_list_has_the_second_until_which_it_is_asked_for() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    app.clock.advance(time::Duration::milliseconds(300));
    write(&ada, project, json!({ "title": "Leak" })).await;
    let close = json!({ "state_event": "close" });
    ada.put(&format!("/projects/{project}/issues/1"), close).await.ok();

    for name in ["createdBefore", "updatedBefore", "closedBefore"] {
        let until = async |fraction: &str| {
            titles(&ada, &format!(r#"{name}: "2026-01-01T00:00:00{fraction}Z""#)).await
        };
        assert_eq!(until("").await, ["Leak"], "{name}");
        assert_eq!(until(".200").await, Vec::<Value>::new(), "{name}");
    }
}

#[actix_web::test]
async fn a_list_is_read_page_by_page_from_both_ends() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    for title in ["A", "B", "C"] {
        write(&ada, project, json!({ "title": title, "weight": 2 })).await;
    }
    let page = |window: &str| {
        format!(
            r#"{{ project(fullPath: "ada/forge") {{ issues(sort: TITLE_ASC, {window}) {{ count weight
               nodes {{ title }} pageInfo {{ hasNextPage hasPreviousPage endCursor }} }} }} }}"#
        )
    };
    let first = ask(&ada, &page("first: 2")).await["project"]["issues"].clone();
    assert_eq!(
        (nodes(&first, "title"), &first["count"]),
        (vec![json!("A"), json!("B")], &json!(3))
    );
    assert_eq!((&first["weight"], &first["pageInfo"]["hasNextPage"]), (&json!(6), &json!(true)));
    let cursor = first["pageInfo"]["endCursor"].as_str().expect("a cursor").to_owned();
    let next = ask(&ada, &page(&format!(r#"first: 2, after: "{cursor}""#))).await;
    let next = next["project"]["issues"].clone();
    assert_eq!(
        (nodes(&next, "title"), &next["pageInfo"]["hasNextPage"]),
        (vec![json!("C")], &json!(false))
    );
    let last = ask(&ada, &page("last: 2")).await["project"]["issues"].clone();
    assert_eq!(nodes(&last, "title"), ["B", "C"]);
    assert_eq!(last["pageInfo"]["hasPreviousPage"], true);
}

#[actix_web::test]
async fn what_may_not_be_read_is_null_and_not_counted() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let project = app.project(&ada, "forge", Public);
    write(&ada, project, json!({ "title": "Open" })).await;
    let secret = write(&ada, project, json!({ "title": "Secret", "confidential": true })).await;
    let one = format!(r#"{{ issue(id: "gid://gitlab/Issue/{secret}") {{ title }} }}"#);
    assert_eq!(ask(&eve, &one).await["issue"], Value::Null);
    assert_eq!(ask(&ada, &one).await["issue"]["title"], "Secret");
    assert_eq!(titles(&eve, "").await, ["Open"]);
    assert_eq!(titles(&app.anonymous(), "").await, ["Open"]);
    let counts =
        r#"{ project(fullPath: "ada/forge") { issueStatusCounts { all opened closed } } }"#;
    let seen = ask(&eve, counts).await["project"]["issueStatusCounts"].clone();
    assert_eq!(seen, json!({ "all": 1, "opened": 1, "closed": 0 }));
}

#[actix_web::test]
async fn issues_everywhere_need_a_filter() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    write(&ada, project, json!({ "title": "Here" })).await;
    let said = "You must provide at least one filter argument for this query";
    assert_eq!(refusal(&ada, "{ issues { nodes { title } } }").await, said);
    let found = ask(&ada, r#"{ issues(authorUsername: "ada") { nodes { title } } }"#).await;
    assert_eq!(nodes(&found["issues"], "title"), ["Here"]);
    let both = r#"{ issues(milestoneTitle: "a", milestoneWildcardId: ANY) { nodes { title } } }"#;
    let said =
        "only one of [milestoneTitle, milestoneWildcardId] arguments is allowed at the same time.";
    assert_eq!(refusal(&ada, both).await, said);
}

#[actix_web::test]
async fn an_issue_is_made_and_changed() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    app.project(&ada, "forge", Private);
    let input = r#"projectPath: "ada/forge", title: "New", labels: ["red"], weight: 2, dueDate: "2026-12-31""#;
    let payload = "issue { iid weight dueDate labels { nodes { title } } }";
    let made = mutate(&ada, "createIssue", input, payload).await;
    assert_eq!((&made["errors"], &made["issue"]["iid"]), (&json!([]), &json!("1")));
    assert_eq!(nodes(&made["issue"]["labels"], "title"), ["red"]);

    let blank =
        mutate(&ada, "createIssue", r#"projectPath: "ada/forge", title: " ""#, "issue { iid }")
            .await;
    assert_eq!(blank, json!({ "errors": ["Title can't be blank"], "issue": null }));
    let foreign =
        format!(r#"mutation {{ createIssue(input: {{ {input} }}) {{ issue {{ iid }} }} }}"#);
    let refused = answer(&eve, &foreign).await;
    assert_eq!(refused["errors"][0]["message"], REFUSED);
    assert_eq!(refused["data"]["createIssue"], Value::Null);
    assert_eq!(refusal(&app.anonymous(), &foreign).await, REFUSED);

    let input = format!(r#"{AT}, title: "Changed", stateEvent: CLOSE, weight: null"#);
    let changed = mutate(&ada, "updateIssue", &input, "issue { title state weight }").await;
    let wanted = json!({ "title": "Changed", "state": "closed", "weight": null });
    assert_eq!(changed["issue"], wanted);
}

#[actix_web::test]
async fn single_properties_of_an_issue_have_mutations_of_their_own() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let project = app.project(&ada, "forge", Public);
    app.member(project, "bob", Guest);
    write(&ada, project, json!({ "title": "Leak" })).await;
    for (name, input, payload, wanted) in [
        (
            "issueSetConfidential",
            "confidential: true",
            "confidential",
            json!({ "confidential": true }),
        ),
        ("issueSetWeight", "weight: 7", "weight", json!({ "weight": 7 })),
        ("issueSetLocked", "locked: true", "discussionLocked", json!({ "discussionLocked": true })),
        (
            "issueSetDueDate",
            r#"dueDate: "2027-01-02T00:00:00Z""#,
            "dueDate",
            json!({ "dueDate": "2027-01-02T00:00:00Z" }),
        ),
        (
            "issueSetSubscription",
            "subscribedState: false",
            "subscribed",
            json!({ "subscribed": false }),
        ),
    ] {
        let done =
            mutate(&ada, name, &format!("{AT}, {input}"), &format!("issue {{ {payload} }}")).await;
        assert_eq!(done, json!({ "errors": [], "issue": wanted }), "{name}");
    }
    let people = "issue { assignees { nodes { username } } }";
    let set =
        mutate(&ada, "issueSetAssignees", &format!(r#"{AT}, assigneeUsernames: ["ada"]"#), people)
            .await;
    assert_eq!(nodes(&set["issue"]["assignees"], "username"), ["ada"]);
    let input = format!(r#"{AT}, assigneeUsernames: ["ada"], operationMode: REMOVE"#);
    let set = mutate(&ada, "issueSetAssignees", &input, people).await;
    assert_eq!(nodes(&set["issue"]["assignees"], "username"), Vec::<Value>::new());
    let guest = format!("mutation {{ issueSetWeight(input: {{ {AT}, weight: 1 }}) {{ errors }} }}");
    assert_eq!(refusal(&bob, &guest).await, REFUSED);
}

#[actix_web::test]
async fn only_incidents_are_given_a_severity() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    write(&ada, project, json!({ "title": "Leak" })).await;
    let input = format!("{AT}, severity: HIGH");
    for (kind, severity, notes) in [("issue", "UNKNOWN", 0), ("incident", "HIGH", 1)] {
        let issue = format!("/projects/{project}/issues/1");
        ada.put(&issue, json!({ "issue_type": kind })).await.ok();
        let set = mutate(&ada, "issueSetSeverity", &input, "issue { severity }").await;
        assert_eq!(set, json!({ "errors": [], "issue": { "severity": severity } }));
        let said = ada.get(&format!("{issue}/notes")).await.each("body");
        let told = said.iter().filter_map(|text| text.as_str());
        let told = told.filter(|text| text.starts_with("changed the severity to"));
        assert_eq!(told.count(), notes, "{kind}: {said:?}");
    }
}

#[actix_web::test]
async fn an_issue_moves_to_another_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    app.project(&ada, "other", Public);
    let id = write(&ada, project, json!({ "title": "Leak" })).await;
    let input = format!(r#"{AT}, targetProjectPath: "ada/other""#);
    let moved = mutate(&ada, "issueMove", &input, "issue { reference(full: true) }").await;
    assert_eq!(moved["issue"]["reference"], "ada/other#1");
    let query = format!(
        r#"{{ issue(id: "gid://gitlab/Issue/{id}") {{ moved movedTo {{ reference(full: true) }} }} }}"#
    );
    let old = ask(&ada, &query).await["issue"].clone();
    assert_eq!(old, json!({ "moved": true, "movedTo": { "reference": "ada/other#1" } }));
}

#[actix_web::test]
async fn a_page_of_issues_costs_as_many_statements_as_one() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let query = r#"{ project(fullPath: "ada/forge") { issues { nodes { title subscribed blocked
        author { username } labels { nodes { title } } notes { nodes { body } }
        userPermissions { updateIssue } } } } }"#;
    write(&ada, project, json!({ "title": "A", "labels": "red" })).await;
    let cost = async || app.cost(async || drop(ask(&ada, query).await)).await;
    let one = cost().await;
    for title in ["B", "C", "D"] {
        write(&ada, project, json!({ "title": title, "labels": "red" })).await;
    }
    assert_eq!(cost().await, one);
}
