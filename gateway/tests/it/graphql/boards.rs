//! Boards by GraphQL.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use super::review::{REFUSED, ask, mutate, nodes, refusal};
use crate::support::{Person, TestApp};

/// Makes a label, and gives its global id.
async fn label(person: &Person<'_>, project: ProjectId, name: &str) -> String {
    let new = json!({ "name": name, "color": "#ff0000" });
    let made = person.post(&format!("/projects/{project}/labels"), new).await.created();
    format!("gid://gitlab/ProjectLabel/{}", made["id"])
}

async fn write(person: &Person<'_>, project: ProjectId, fields: Value) -> i64 {
    let made = person.post(&format!("/projects/{project}/issues"), fields).await.created();
    made["iid"].as_i64().expect("a number")
}

fn id_of(value: &Value) -> String {
    value["id"].as_str().expect("an id").to_owned()
}

/// A board of `ada/forge` with a list for the label `doing`: its id, and that of the list.
async fn board_with_list(person: &Person<'_>, project: ProjectId) -> (String, String) {
    let input = r#"projectPath: "ada/forge", name: "Next""#;
    let board = mutate(person, "createBoard", input, "board { id }").await["board"].clone();
    let board = id_of(&board);
    let doing = label(person, project, "doing").await;
    let input = format!(r#"boardId: "{board}", labelId: "{doing}""#);
    let made =
        mutate(person, "boardListCreate", &input, "list { id title listType position }").await;
    assert_eq!((&made["list"]["title"], &made["list"]["position"]), (&json!("doing"), &json!(0)));
    (board, id_of(&made["list"]))
}

/// The titles of the issues of each list that is shown, with the list's own.
async fn shown(person: &Person<'_>, board: &str) -> Vec<(Value, Vec<Value>)> {
    let query = format!(
        r#"{{ project(fullPath: "ada/forge") {{ board(id: "{board}") {{ lists {{ nodes {{
           title issues {{ nodes {{ title }} }} }} }} }} }} }}"#
    );
    let lists = ask(person, &query).await["project"]["board"]["lists"]["nodes"].clone();
    let lists = lists.as_array().expect("lists").clone();
    lists.iter().map(|one| (one["title"].clone(), nodes(&one["issues"], "title"))).collect()
}

/// The id of a list by its title.
async fn list_id(person: &Person<'_>, board: &str, title: &str) -> String {
    let query = format!(
        r#"{{ project(fullPath: "ada/forge") {{ board(id: "{board}") {{ lists {{ nodes {{ id title }} }} }} }} }}"#
    );
    let lists = ask(person, &query).await["project"]["board"]["lists"]["nodes"].clone();
    let lists = lists.as_array().expect("lists").clone();
    id_of(lists.iter().find(|one| one["title"] == title).expect("a list"))
}

fn texts(titles: &[&str]) -> Vec<Value> {
    titles.iter().map(|title| json!(title)).collect()
}

#[actix_web::test]
async fn a_board_is_made_shown_changed_and_removed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "forge", Public);
    let fields = "board { id name hideBacklogList weight webPath labels { nodes { title } } assignee { username } }";
    let user = app.user("ada").id;
    let input = format!(
        r#"projectPath: "ada/forge", weight: 2, labels: ["new"], assigneeId: "gid://gitlab/User/{user}""#
    );
    let made = mutate(&ada, "createBoard", &input, fields).await["board"].clone();
    let id = id_of(&made);
    assert_eq!((&made["name"], &made["weight"]), (&json!("Development"), &json!(2)));
    assert_eq!(nodes(&made["labels"], "title"), ["new"]);
    assert_eq!(made["assignee"]["username"], "ada");
    let number = id.rsplit('/').next().expect("a number");
    assert_eq!(made["webPath"], format!("/ada/forge/-/boards/{number}"));

    let input = format!(r#"id: "{id}", name: "Soon", hideBacklogList: true, weight: null"#);
    let changed = mutate(&ada, "updateBoard", &input, fields).await["board"].clone();
    assert_eq!((&changed["name"], &changed["weight"]), (&json!("Soon"), &Value::Null));
    assert_eq!(changed["hideBacklogList"], json!(true));
    let query = r#"{ project(fullPath: "ada/forge") {
        boards { count nodes { name } } recentIssueBoards { nodes { name } } } }"#;
    let project = ask(&app.anonymous(), query).await["project"].clone();
    assert_eq!(nodes(&project["boards"], "name"), ["Soon"]);
    assert!(nodes(&project["recentIssueBoards"], "name").is_empty());
    let recent = ask(&ada, query).await["project"]["recentIssueBoards"].clone();
    assert_eq!(nodes(&recent, "name"), ["Soon"]);

    let gone = mutate(&ada, "destroyBoard", &format!(r#"id: "{id}""#), "board { id }").await;
    assert_eq!(gone, json!({ "errors": [], "board": null }));
}

#[actix_web::test]
async fn lists_hold_what_has_their_label_and_is_in_no_other() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let (board, _) = board_with_list(&ada, project).await;
    write(&ada, project, json!({ "title": "A" })).await;
    write(&ada, project, json!({ "title": "B", "labels": "doing" })).await;
    let closed = write(&ada, project, json!({ "title": "C", "labels": "doing" })).await;
    let close = json!({ "state_event": "close" });
    ada.put(&format!("/projects/{project}/issues/{closed}"), close).await.ok();
    let expected = [("Open", "A"), ("doing", "B"), ("Closed", "C")];
    let expected: Vec<_> =
        expected.iter().map(|(list, issue)| (json!(list), vec![json!(issue)])).collect();
    assert_eq!(shown(&ada, &board).await, expected);
}

#[actix_web::test]
async fn an_issue_is_carried_from_list_to_list() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let (board, doing) = board_with_list(&ada, project).await;
    let (open, closed) =
        (list_id(&ada, &board, "Open").await, list_id(&ada, &board, "Closed").await);
    for title in ["A", "B", "C"] {
        write(&ada, project, json!({ "title": title })).await;
    }
    let carry = async |iid: i64, from: &str, to: &str, more: &str| {
        let input = format!(
            r#"projectPath: "ada/forge", iid: "{iid}", boardId: "{board}",
               fromListId: "{from}", toListId: "{to}" {more}"#
        );
        mutate(&ada, "issueMoveList", &input, "issue { title state labels { nodes { title } } }")
            .await
    };
    let moved = carry(1, &open, &doing, "").await["issue"].clone();
    assert_eq!(nodes(&moved["labels"], "title"), ["doing"]);
    carry(2, &open, &doing, ", positionInList: 0").await;
    carry(3, &open, &doing, ", positionInList: -1").await;
    let lists = shown(&ada, &board).await;
    assert_eq!(lists[1], (json!("doing"), texts(&["B", "A", "C"])));

    let done = carry(2, &doing, &closed, "").await["issue"].clone();
    assert_eq!(done["state"], "closed");
    assert!(nodes(&done["labels"], "title").is_empty());
    let again = carry(2, &closed, &doing, "").await["issue"].clone();
    assert_eq!(
        (&again["state"], nodes(&again["labels"], "title")),
        (&json!("opened"), texts(&["doing"]))
    );
    let back = carry(2, &doing, &open, "").await["issue"].clone();
    assert!(nodes(&back["labels"], "title").is_empty());
}

#[actix_web::test]
async fn issues_of_lists_are_filtered_and_counted() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let (_, list) = board_with_list(&ada, project).await;
    let given = json!([app.user("ada").id.0]);
    write(
        &ada,
        project,
        json!({ "title": "A", "labels": "doing", "weight": 2, "assignee_ids": given }),
    )
    .await;
    write(&ada, project, json!({ "title": "B", "labels": "doing,red", "weight": 3 })).await;
    let ask_list = async |filters: &str| {
        let query = format!(
            r#"{{ boardList(id: "{list}", issueFilters: {{ {filters} }}) {{ issuesCount totalWeight
               issues(filters: {{ {filters} }}) {{ count nodes {{ title }} }} }} }}"#
        );
        ask(&ada, &query).await["boardList"].clone()
    };
    let all = ask_list("").await;
    assert_eq!((&all["issuesCount"], &all["totalWeight"]), (&json!(2), &json!(5)));
    for (filters, expected) in [
        (r#"labelName: ["red"]"#, "B"),
        (r#"assigneeUsername: ["ada"]"#, "A"),
        ("assigneeWildcardId: NONE", "B"),
        (r#"weight: "2""#, "A"),
        (r#"not: { labelName: ["red"] }"#, "A"),
        (r#"not: { assigneeUsername: ["ada"] }"#, "B"),
        (r#"search: "b""#, "B"),
    ] {
        let found = ask_list(filters).await;
        assert_eq!(nodes(&found["issues"], "title"), [expected], "{filters}");
        assert_eq!(found["issuesCount"], json!(1), "{filters}");
    }
    let both = format!(
        r#"{{ boardList(id: "{list}") {{
           issues(filters: {{ weight: "1", weightWildcardId: ANY }}) {{ nodes {{ id }} }} }} }}"#
    );
    assert_eq!(refusal(&ada, &both).await, "Incompatible arguments: weight, weightWildcardId.");
}

#[actix_web::test]
async fn the_scope_of_a_board_narrows_all_of_its_lists() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let (board, _) = board_with_list(&ada, project).await;
    let input = format!(r#"id: "{board}", labels: ["team"], weight: 1"#);
    mutate(&ada, "updateBoard", &input, "board { id }").await;
    write(&ada, project, json!({ "title": "A", "labels": "doing,team", "weight": 1 })).await;
    write(&ada, project, json!({ "title": "B", "labels": "doing", "weight": 1 })).await;
    write(&ada, project, json!({ "title": "C", "labels": "team", "weight": 1 })).await;
    write(&ada, project, json!({ "title": "D", "labels": "team", "weight": 2 })).await;
    let lists = shown(&ada, &board).await;
    assert_eq!(lists[0], (json!("Open"), texts(&["C"])));
    assert_eq!(lists[1], (json!("doing"), texts(&["A"])));
}

#[actix_web::test]
async fn lists_are_limited_folded_moved_and_removed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let (board, list) = board_with_list(&ada, project).await;
    let input = format!(r#"listId: "{list}", limitMetric: issue_count, maxIssueCount: 3"#);
    let fields = "list { limitMetric maxIssueCount maxIssueWeight collapsed position }";
    let limited = mutate(&ada, "boardListUpdateLimitMetrics", &input, fields).await["list"].clone();
    let expected = json!({ "limitMetric": "issue_count", "maxIssueCount": 3, "maxIssueWeight": 0,
                           "collapsed": false, "position": 0 });
    assert_eq!(limited, expected);
    let red = label(&ada, project, "red").await;
    let input = format!(r#"boardId: "{board}", labelId: "{red}""#);
    mutate(&ada, "boardListCreate", &input, "list { id }").await;
    let input = format!(r#"listId: "{list}", position: 1, collapsed: true"#);
    let moved = mutate(&ada, "updateBoardList", &input, fields).await["list"].clone();
    assert_eq!((&moved["position"], &moved["collapsed"]), (&json!(1), &json!(true)));
    let twice = format!(r#"boardId: "{board}", labelId: "{red}""#);
    let refused = mutate(&ada, "boardListCreate", &twice, "list { id }").await;
    assert_eq!(refused, json!({ "errors": ["Label has already been taken"], "list": null }));
    mutate(&ada, "destroyBoardList", &format!(r#"listId: "{list}""#), "list { id }").await;
    assert_eq!(shown(&ada, &board).await.len(), 3);
}

#[actix_web::test]
async fn only_those_change_boards_who_may() {
    let app = TestApp::new();
    let (ada, bob, eve) = (app.person("ada"), app.person("bob"), app.person("eve"));
    let project = app.project(&ada, "forge", Private);
    app.member(project, "bob", Guest);
    app.member(project, "eve", Reporter);
    let (board, list) = board_with_list(&ada, project).await;
    write(&ada, project, json!({ "title": "A" })).await;
    let inputs = [
        ("updateBoard", format!(r#"id: "{board}", name: "x""#)),
        ("destroyBoard", format!(r#"id: "{board}""#)),
        ("boardListCreate", format!(r#"boardId: "{board}", backlog: true"#)),
        ("updateBoardList", format!(r#"listId: "{list}", position: 0"#)),
        ("destroyBoardList", format!(r#"listId: "{list}""#)),
        (
            "issueMoveList",
            format!(
                r#"projectPath: "ada/forge", iid: "1", boardId: "{board}", fromListId: "{list}", toListId: "{list}""#
            ),
        ),
    ];
    for (name, input) in &inputs {
        let query = format!("mutation {{ {name}(input: {{ {input} }}) {{ errors }} }}");
        for person in [&bob, &app.person("mia"), &app.anonymous()] {
            assert_eq!(refusal(person, &query).await, REFUSED, "{name}");
        }
    }
    let folded = format!(r#"listId: "{list}", collapsed: true"#);
    let folded = mutate(&bob, "updateBoardList", &folded, "list { collapsed }").await;
    assert_eq!(folded["list"]["collapsed"], json!(true));
    let query = format!(r#"{{ boardList(id: "{list}") {{ title collapsed }} }}"#);
    assert_eq!(ask(&eve, &query).await["boardList"]["collapsed"], json!(false));
    assert_eq!(ask(&app.person("mia"), &query).await["boardList"], Value::Null);
    assert_eq!(
        mutate(&eve, "updateBoard", &inputs[0].1, "board { name }").await["board"]["name"],
        "x"
    );
}

#[actix_web::test]
async fn issues_of_several_projects_are_ordered_on_a_board_of_their_group() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group_with("orchid", json!({ "visibility": "private" })).await;
    let mut projects = Vec::new();
    for path in ["one", "two"] {
        let new = json!({ "name": path, "namespace_id": group });
        let made = ada.post("/projects", new).await.created();
        projects.push(ProjectId(made["id"].as_i64().expect("an id")));
        write(&ada, projects[projects.len() - 1], json!({ "title": path })).await;
    }
    let made = mutate(
        &ada,
        "createBoard",
        r#"groupPath: "orchid""#,
        "board { id lists { nodes { id title } } }",
    )
    .await;
    let board = id_of(&made["board"]);
    let open = id_of(&made["board"]["lists"]["nodes"][0]);
    let query = format!(r#"{{ boardList(id: "{open}") {{ issues {{ nodes {{ title id }} }} }} }}"#);
    let before = ask(&ada, &query).await["boardList"]["issues"].clone();
    let (first, second) = (&before["nodes"][0], &before["nodes"][1]);
    let path = second["title"].as_str().expect("a title");
    let input = format!(
        r#"projectPath: "orchid/{path}", iid: "1", boardId: "{board}", moveAfterId: "{}""#,
        id_of(first)
    );
    mutate(&ada, "issueMoveList", &input, "issue { id }").await;
    let after = ask(&ada, &query).await["boardList"]["issues"].clone();
    assert_eq!(nodes(&after, "title"), [second["title"].clone(), first["title"].clone()]);
}

#[actix_web::test]
async fn epics_have_boards_with_lists_of_their_own() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group_with("orchid", json!({ "visibility": "private" })).await;
    let new = json!({ "name": "doing", "color": "#ff0000" });
    let doing = ada.post(&format!("/groups/{group}/labels"), new).await.created()["id"].clone();
    let epic = ada.post(&format!("/groups/{group}/epics"), json!({ "title": "E" })).await.created();
    let fields = "epicBoard { id name lists { nodes { id title listType epicsCount } } }";
    let input = r#"groupPath: "orchid", name: "Big", displayColors: true"#;
    let board = mutate(&ada, "epicBoardCreate", input, fields).await["epicBoard"].clone();
    let (id, open) = (id_of(&board), id_of(&board["lists"]["nodes"][0]));
    assert_eq!(board["lists"]["nodes"][0]["epicsCount"], json!(1));
    let input = format!(r#"boardId: "{id}", labelId: "gid://gitlab/GroupLabel/{doing}""#);
    let list = mutate(&ada, "epicBoardListCreate", &input, "list { id }").await["list"].clone();
    let input = format!(
        r#"boardId: "{id}", epicId: "gid://gitlab/Epic/{}", fromListId: "{open}", toListId: "{}""#,
        epic["id"],
        id_of(&list)
    );
    let moved = mutate(&ada, "epicMoveList", &input, "epic { labels { nodes { title } } }").await;
    assert_eq!(nodes(&moved["epic"]["labels"], "title"), ["doing"]);
    let query = format!(
        r#"{{ epicBoardList(id: "{}") {{ title epics {{ nodes {{ title }} }} }} }}"#,
        id_of(&list)
    );
    let shown = ask(&ada, &query).await["epicBoardList"].clone();
    assert_eq!(
        (&shown["title"], nodes(&shown["epics"], "title")),
        (&json!("doing"), texts(&["E"]))
    );
    let query = r#"{ group(fullPath: "orchid") {
        epicBoards { nodes { name displayColors } } boards { nodes { id } } } }"#;
    let group = ask(&ada, query).await["group"].clone();
    assert_eq!(group["epicBoards"]["nodes"], json!([{ "name": "Big", "displayColors": true }]));
    assert_eq!(group["boards"]["nodes"], json!([]));
    mutate(&ada, "destroyEpicBoard", &format!(r#"id: "{id}""#), "epicBoard { id }").await;
}

#[actix_web::test]
async fn a_move_names_lists_and_places_that_fit_together() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let (board, list) = board_with_list(&ada, project).await;
    write(&ada, project, json!({ "title": "A" })).await;
    for (more, told) in [
        (
            String::new(),
            "At least one of the arguments fromListId, toListId, positionInList, moveAfterId, or moveBeforeId is \
             required",
        ),
        (format!(r#", fromListId: "{list}""#), "Both fromListId and toListId must be present"),
        (
            ", positionInList: 1".to_owned(),
            "Both fromListId and toListId are required when positionInList is given",
        ),
        (
            format!(r#", fromListId: "{list}", toListId: "{list}", positionInList: -2"#),
            "positionInList must be >= 0 or -1",
        ),
    ] {
        let query = format!(
            r#"mutation {{ issueMoveList(input: {{ projectPath: "ada/forge", iid: "1", boardId: "{board}" {more} }}) {{
               errors }} }}"#
        );
        assert_eq!(refusal(&ada, &query).await, told);
    }
}
