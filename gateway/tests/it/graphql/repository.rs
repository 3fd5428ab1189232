//! Repositories by GraphQL, held against git.

use kernel::AccessLevel::{Developer, Guest};
use repo::testing::Fixture;
use serde_json::{Value, json};

use super::review::{REFUSED, ask, mutate, nodes, refusal};
use crate::support::TestApp;

/// An application with the fixture's history in the public project `ada/forge`.
fn forge() -> (TestApp, Fixture) {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    app.project_from(&fixture);
    (app, fixture)
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().map(|value| value.as_str().unwrap_or_default().to_owned()).collect()
}

#[actix_web::test]
async fn a_folder_has_trees_and_blobs() {
    let (app, fixture) = forge();
    let query = r#"{ project(fullPath: "ada/forge") { repository { rootRef empty exists
        tree(ref: "main") { trees { nodes { path type webPath } } blobs { nodes { path sha mode webUrl } }
        submodules { nodes { path } } lastCommit { sha } } } } }"#;
    let repository = ask(&app.anonymous(), query).await["project"]["repository"].clone();
    assert_eq!((&repository["rootRef"], &repository["empty"]), (&json!("main"), &json!(false)));
    let tree = &repository["tree"];
    let mut paths = texts(&nodes(&tree["trees"], "path"));
    paths.extend(texts(&nodes(&tree["blobs"], "path")));
    paths.extend(texts(&nodes(&tree["submodules"], "path")));
    paths.sort();
    let mut said = fixture.lines(&["ls-tree", "--name-only", "main"]);
    said.sort();
    assert_eq!(paths, said);
    assert_eq!(tree["lastCommit"]["sha"], fixture.id("refs/heads/main").to_string());
    let unknown = r#"{ project(fullPath: "ada/forge") { repository { tree(ref: "nowhere") { lastCommit { sha } } } } }"#;
    assert_eq!(ask(&app.anonymous(), unknown).await["project"]["repository"]["tree"], Value::Null);
}

#[actix_web::test]
async fn a_folder_is_read_in_pages() {
    let (app, fixture) = forge();
    let page = |more: &str| {
        format!(
            "{{ project(fullPath: \"ada/forge\") {{ repository {{ paginatedTree(ref: \"main\", recursive: true, \
             first: 3 {more}) {{ nodes {{ trees {{ nodes {{ path }} }} blobs {{ nodes {{ path }} }} \
             submodules {{ nodes {{ path }} }} }} pageInfo {{ endCursor hasNextPage }} }} }} }} }}"
        )
    };
    let (mut paths, mut more) = (Vec::new(), String::new());
    loop {
        let answer = ask(&app.anonymous(), &page(&more)).await;
        let tree = answer["project"]["repository"]["paginatedTree"].clone();
        for kind in ["trees", "blobs", "submodules"] {
            paths.extend(texts(&nodes(&tree["nodes"][0][kind], "path")));
        }
        if tree["pageInfo"]["hasNextPage"] == false {
            break;
        }
        more = format!(", after: {}", tree["pageInfo"]["endCursor"]);
    }
    assert_eq!(paths.len(), fixture.lines(&["ls-tree", "-r", "-t", "main"]).len());
}

#[actix_web::test]
async fn files_come_with_their_content() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("site", "private").await;
    ada.commit_text(&project, "main", "docs.md", "# Ä\n").await;
    let query = r#"{ project(fullPath: "ada/site") { repository { blobs(paths: ["docs.md", "none"]) { nodes {
        name path oid mode size rawSize rawBlob rawTextBlob webPath rawPath canModifyBlob storedExternally
        richViewer { type fileType } simpleViewer { type tooLarge } } } } } }"#;
    let blobs = ask(&ada, query).await["project"]["repository"]["blobs"]["nodes"].clone();
    assert_eq!(blobs.as_array().map(Vec::len), Some(1));
    let blob = &blobs[0];
    assert_eq!((&blob["rawBlob"], &blob["size"]), (&json!("# Ä\n"), &json!(5)));
    assert_eq!((&blob["name"], &blob["mode"]), (&json!("docs.md"), &json!("100644")));
    assert_eq!(blob["rawPath"], "/ada/site/-/raw/main/docs.md");
    assert_eq!((&blob["canModifyBlob"], &blob["storedExternally"]), (&json!(true), &json!(false)));
    assert_eq!(blob["richViewer"], json!({ "type": "rich", "fileType": "markup" }));
    assert_eq!(blob["simpleViewer"], json!({ "type": "simple", "tooLarge": false }));
}

#[actix_web::test]
async fn commits_are_told_as_git_tells_them() {
    let (app, fixture) = forge();
    let query = r#"{ project(fullPath: "ada/forge") { repository { commits(ref: "main", first: 2) {
        nodes { id sha shortId title authorName webUrl } pageInfo { hasNextPage } }
        commit(ref: "main") { sha message diffs { newPath } } } } }"#;
    let repository = ask(&app.anonymous(), query).await["project"]["repository"].clone();
    let said = fixture.lines(&["log", "-2", "--format=%H", "main"]);
    assert_eq!(texts(&nodes(&repository["commits"], "sha")), said);
    assert_eq!(repository["commits"]["pageInfo"]["hasNextPage"], true);
    let first = &repository["commits"]["nodes"][0];
    assert_eq!(first["id"], format!("gid://gitlab/CommitPresenter/{}", said[0]));
    assert_eq!(first["webUrl"], format!("http://forge.test/ada/forge/-/commit/{}", said[0]));
    assert_eq!(repository["commit"]["sha"], said[0].as_str());
}

#[actix_web::test]
async fn branch_names_are_found_by_a_pattern() {
    let (app, fixture) = forge();
    let query = r#"{ project(fullPath: "ada/forge") { repository { all: branchNames(searchPattern: "*", limit: 100, offset: 0)
        } } }"#;
    let all = ask(&app.person("eve"), query).await["project"]["repository"]["all"].clone();
    let said = fixture.lines(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    assert_eq!(all, json!(said));
    let some = query.replace("\"*\", limit: 100", "\"m*n\", limit: 1");
    let some = ask(&app.person("zoe"), &some).await["project"]["repository"]["all"].clone();
    assert_eq!(some, json!(["main"]));
}

#[actix_web::test]
async fn a_commit_and_a_branch_are_made() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    ada.filled_project("site", "public").await;
    let input = r#"projectPath: "ada/site", branch: "topic", startBranch: "main", message: "Grow",
        actions: [{ action: CREATE, filePath: "leaf.txt", content: "Z3JlZW4=", encoding: BASE64 }]"#;
    let payload = "commit { title author { username } } commitPipelinePath content";
    let made = mutate(&ada, "commitCreate", input, payload).await;
    assert_eq!((&made["errors"], &made["commit"]["title"]), (&json!([]), &json!("Grow")));
    assert_eq!(
        (&made["commit"]["author"]["username"], &made["content"]),
        (&json!("ada"), &json!(["Z3JlZW4="]))
    );
    let onto = input.replace(", startBranch: \"main\"", "");
    let again = mutate(&ada, "commitCreate", &onto, "commit { sha }").await;
    assert_eq!(
        again,
        json!({ "errors": ["A file with this name already exists"], "commit": null })
    );
    let input = r#"projectPath: "ada/site", name: "next", ref: "topic""#;
    let branch = mutate(&ada, "createBranch", input, "branch { name commit { title } }").await;
    assert_eq!(branch["branch"], json!({ "name": "next", "commit": { "title": "Grow" } }));
    let taken = mutate(&ada, "createBranch", input, "branch { name }").await;
    assert_eq!(taken, json!({ "errors": ["Branch already exists"], "branch": null }));
    let foreign = format!("mutation {{ createBranch(input: {{ {input} }}) {{ errors }} }}");
    assert_eq!(refusal(&eve, &foreign).await, REFUSED);
}

#[actix_web::test]
async fn rules_for_branches_say_whom_they_let_in() {
    let (app, fixture) = forge();
    let ada = app.person("ada");
    let project = app.project_id("ada/forge");
    app.member(project, "bob", Developer);
    ada.post(&format!("/projects/{project}/protected_branches"), json!({ "name": "m*" }))
        .await
        .created();
    let query = r#"{ project(fullPath: "ada/forge") { branchRules { nodes { name isProtected matchingBranchesCount
        branchProtection { allowForcePush pushAccessLevels { nodes { accessLevel accessLevelDescription } } } } } } }"#;
    let rules = ask(&app.person("bob"), query).await["project"]["branchRules"]["nodes"].clone();
    let rules = rules.as_array().expect("rules").clone();
    let rule = rules.iter().find(|rule| rule["name"] == "m*").expect("the rule");
    let names = fixture.lines(&["for-each-ref", "--format=%(refname:short)", "refs/heads/m*"]);
    assert_eq!(rule["matchingBranchesCount"], names.len());
    let levels = json!([{ "accessLevel": 40, "accessLevelDescription": "Maintainers" }]);
    assert_eq!(rule["branchProtection"]["pushAccessLevels"]["nodes"], levels);
}

#[actix_web::test]
async fn a_branch_rule_tells_who_has_to_approve() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", kernel::Visibility::Public);
    app.member(project, "grace", Developer);
    let guest = app.member(project, "guest", Guest);
    let at = |rest: &str| format!("/projects/{project}/{rest}");
    for name in ["stable", "other"] {
        ada.post(&at("protected_branches"), json!({ "name": name })).await.created();
    }
    let branches = ada.get(&at("protected_branches")).await.ok();
    let stable = branches.as_array().expect("a list").iter().find(|one| one["name"] == "stable");
    let stable = stable.expect("the branch")["id"].clone();
    let rule = json!({ "name": "Security", "approvals_required": 2, "protected_branch_ids": [stable],
                       "user_ids": [app.user("grace").id.0] });
    ada.post(&at("approval_rules"), rule).await.created();
    let everywhere = json!({ "name": "All", "approvals_required": 1,
                             "applies_to_all_protected_branches": true, "user_ids": [] });
    ada.post(&at("approval_rules"), everywhere).await.created();

    let query = r#"{ project(fullPath: "ada/forge") { branchRules { nodes { name
        approvalRules { nodes { name approvalsRequired type eligibleApprovers { nodes { username } } } } } } } }"#;
    let rules = ask(&ada, query).await["project"]["branchRules"]["nodes"].clone();
    let of = |name: &str| {
        let all = rules.as_array().expect("rules").iter();
        all.clone().find(|rule| rule["name"] == name).expect("a rule")["approvalRules"].clone()
    };
    assert_eq!(nodes(&of("stable"), "name"), ["Security", "All"]);
    assert_eq!(nodes(&of("other"), "name"), ["All"]);
    let security = of("stable")["nodes"][0].clone();
    assert_eq!((&security["approvalsRequired"], &security["type"]), (&json!(2), &json!("REGULAR")));
    assert_eq!(nodes(&security["eligibleApprovers"], "username"), ["grace"]);
    assert_ne!(ask(&guest, query).await["project"]["branchRules"], Value::Null);
    let stranger = ask(&app.person("eve"), query).await["project"]["branchRules"].clone();
    assert_eq!(nodes(&stranger, "approvalRules"), [Value::Null, Value::Null]);
}
