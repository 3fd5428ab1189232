//! Projects, labels and milestones by GraphQL.

use kernel::{
    AccessLevel::{Developer, Guest},
    ids::ProjectId,
};
use serde_json::{Value, json};

use super::review::{REFUSED, ask, mutate, nodes, refusal};
use crate::support::TestApp;

#[actix_web::test]
async fn a_project_is_shown_to_those_who_see_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let made = ada.filled_project("site", "private").await;
    let query = r#"{ project(fullPath: "ada/SITE") { id name fullPath nameWithNamespace visibility
        httpUrlToRepo sshUrlToRepo webUrl issuesEnabled openIssuesCount starCount forksCount archived
        namespace { id fullPath } group { id } statistics { commitCount } topics
        mergeRequestsFfOnlyEnabled ciConfigPathOrDefault squashReadOnly containerRepositoriesCount
        userPermissions { adminProject pushCode createDesign } forkDetails { ahead } } }"#;

    let project = ask(&ada, query).await["project"].clone();
    assert_eq!(project["id"], format!("gid://gitlab/Project/{made}"));
    assert_eq!(
        (&project["fullPath"], &project["visibility"]),
        (&json!("ada/site"), &json!("private"))
    );
    assert_eq!(project["httpUrlToRepo"], "http://forge.test/ada/site.git");
    assert_eq!((&project["openIssuesCount"], &project["group"]), (&json!(0), &Value::Null));
    assert_eq!(project["namespace"]["fullPath"], "ada");
    assert_eq!(project["ciConfigPathOrDefault"], ".gitlab-ci.yml");
    let may = json!({ "adminProject": true, "pushCode": true, "createDesign": false });
    assert_eq!((&project["userPermissions"], &project["forkDetails"]), (&may, &Value::Null));
    assert_eq!(project["statistics"]["commitCount"], 1.0);
    for stranger in [app.person("eve"), app.anonymous()] {
        assert_eq!(ask(&stranger, query).await, json!({ "project": null }));
    }
}

#[actix_web::test]
async fn projects_are_narrowed_and_ordered() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    for name in ["birch", "alder"] {
        let new = json!({ "name": name, "visibility": "public", "topics": [name] });
        ada.post("/projects", new).await.created();
    }
    let listed = |arguments: &str| {
        format!("{{ projects{arguments} {{ count nodes {{ name }} pageInfo {{ hasNextPage }} }} }}")
    };
    let found = ask(&eve, &listed("(sort: \"name_asc\")")).await["projects"].clone();
    assert_eq!(
        (nodes(&found, "name"), &found["count"]),
        (vec![json!("alder"), json!("birch")], &json!(2))
    );
    assert_eq!(nodes(&ask(&eve, &listed("")).await["projects"], "name"), ["alder", "birch"]);
    assert_eq!(
        nodes(&ask(&eve, &listed("(topics: [\"birch\"])")).await["projects"], "name"),
        ["birch"]
    );
    assert_eq!(nodes(&ask(&eve, &listed("(membership: true)")).await["projects"], "name").len(), 0);
    assert_eq!(
        nodes(&ask(&eve, &listed("(search: \"alde\")")).await["projects"], "name"),
        ["alder"]
    );
    let first = ask(&eve, &listed("(first: 1)")).await["projects"].clone();
    assert_eq!(first["pageInfo"]["hasNextPage"], true);
}

#[actix_web::test]
async fn a_list_of_projects_costs_the_same_however_long() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let query = "{ projects(first: 50) { nodes { fullPath openIssuesCount topics pushRules { rejectUnsignedCommits }
        namespace { fullPath } group { fullPath } statistics { storageSize } } } }";
    let count = async || app.cost(async || drop(ask(&ada, query).await)).await;
    let add = |name: &'static str| ada.post("/projects", json!({ "name": name }));
    add("one").await.created();
    add("two").await.created();
    let few = count().await;
    for name in ["three", "four", "five"] {
        add(name).await.created();
    }
    assert_eq!(count().await, few);
}

#[actix_web::test]
async fn a_fork_says_how_far_it_went() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let source = ada.filled_project("site", "public").await;
    let fork = bob.post(&format!("/projects/{source}/fork"), json!({})).await.created();
    bob.commit(&fork["id"], "main", "mine.txt").await;
    ada.commit(&source, "main", "hers.txt").await;
    ada.commit(&source, "main", "hers2.txt").await;

    let query =
        r#"{ project(fullPath: "bob/site") { forkDetails(ref: "main") { ahead behind } } }"#;
    let answer = ask(&bob, query).await;
    assert_eq!(answer["project"]["forkDetails"], json!({ "ahead": 1, "behind": 2 }));
}

#[actix_web::test]
async fn forks_are_counted_for_those_who_read_the_code() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let source = ada.filled_project("site", "private").await;
    let id = ProjectId(source.as_i64().expect("an id"));
    let (dan, gus) = (app.member(id, "dan", Developer), app.member(id, "gus", Guest));
    dan.post(&format!("/projects/{source}/fork"), json!({})).await.created();

    let query = r#"{ project(fullPath: "ada/site") { forksCount } }"#;

    assert_eq!(ask(&dan, query).await["project"]["forksCount"], 1);
    assert_eq!(ask(&gus, query).await["project"]["forksCount"], 0);
    assert!(gus.get(&format!("/projects/{source}")).await.ok()["forks_count"].is_null());
}

#[actix_web::test]
async fn labels_are_made_and_listed() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let top = ada.group("orchid", None).await;
    let site = json!({ "name": "Site", "path": "site", "namespace_id": top });
    ada.post("/projects", site).await.created();
    let payload = "label { id title color textColor descriptionHtml }";
    let input = r##"groupPath: "orchid", title: "bug", color: "#ff0000", description: "*odd*""##;
    let made = mutate(&ada, "labelCreate", input, payload).await;
    assert_eq!((&made["errors"], &made["label"]["title"]), (&json!([]), &json!("bug")));
    assert_eq!(made["label"]["descriptionHtml"], "<em>odd</em>");
    let input = r#"projectPath: "orchid/site", title: "task""#;
    let own = mutate(&ada, "labelCreate", input, payload).await;
    assert_eq!(own["label"]["color"], "#6699cc");
    let again = mutate(&ada, "labelCreate", input, payload).await;
    assert_eq!(again, json!({ "errors": ["Label already exists"], "label": null }));
    let query = r#"{ project(fullPath: "orchid/site") { labels { nodes { title } }
        all: labels(includeAncestorGroups: true) { count nodes { title } } label(title: "bug") { id } } }"#;
    let project = ask(&ada, query).await["project"].clone();
    assert_eq!(nodes(&project["labels"], "title"), ["task"]);
    assert_eq!(nodes(&project["all"], "title"), ["bug", "task"]);
    assert_eq!(project["label"]["id"], made["label"]["id"]);
    let both = r#"mutation { labelCreate(input: { title: "x" }) { errors } }"#;
    let one = "One and only one of [groupPath, projectPath] arguments is required.";
    assert_eq!(refusal(&ada, both).await, one);
    let foreign = format!("mutation {{ labelCreate(input: {{ {input} }}) {{ errors }} }}");
    assert_eq!(refusal(&eve, &foreign).await, REFUSED);
}

#[actix_web::test]
async fn milestones_are_ordered_by_their_days() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let site = ada.post("/projects", json!({ "name": "site" })).await.created();
    let milestones = format!("/projects/{}/milestones", site["id"]);
    for (title, start, due) in [
        ("late", "2040-01-01", "2040-02-01"),
        ("past", "2001-01-01", "2001-02-01"),
        ("soon", "2030-01-01", "2030-02-01"),
    ] {
        let new = json!({ "title": title, "start_date": start, "due_date": due });
        ada.post(&milestones, new).await.created();
    }
    ada.post(&milestones, json!({ "title": "open" })).await.created();
    let listed = |arguments: &str| {
        format!(
            "{{ project(fullPath: \"ada/site\") {{ milestones{arguments} {{ nodes {{ title expired dueDate \
             projectMilestone stats {{ totalIssuesCount }} webPath }} }} }} }}"
        )
    };
    let titles = |answer: Value| nodes(&answer["project"]["milestones"], "title");
    assert_eq!(titles(ask(&ada, &listed("")).await), ["past", "soon", "late", "open"]);
    let sorted = ask(&ada, &listed("(sort: EXPIRED_LAST_DUE_DATE_ASC)")).await;
    assert_eq!(titles(sorted.clone()), ["soon", "late", "open", "past"]);
    let past = &sorted["project"]["milestones"]["nodes"][3];
    assert_eq!(
        (&past["expired"], &past["dueDate"]),
        (&json!(true), &json!("2001-02-01T00:00:00Z"))
    );
    assert_eq!(past["stats"]["totalIssuesCount"], 0);
    let within = listed("(timeframe: { start: \"2030-01-10\", end: \"2030-01-20\" })");
    assert_eq!(titles(ask(&ada, &within).await), ["soon"]);
    assert_eq!(titles(ask(&ada, &listed("(searchTitle: \"LAT\")")).await), ["late"]);
}
