//! Epics of groups.

use kernel::ids::ProjectId;
use serde_json::{Value, json};

pub(crate) use crate::support::epics::{epic, issue, project_in, set_up};
use crate::support::{Person, TestApp};

pub(crate) const HIDDEN: &str = "404 Not found";

pub(crate) async fn titles(person: &Person<'_>, path: &str) -> Vec<Value> {
    person.get(path).await.each("title")
}

/// What was told of an issue among its notes, oldest first.
pub(crate) async fn told(person: &Person<'_>, project: ProjectId, iid: i64) -> Vec<Value> {
    let notes = format!("/projects/{project}/issues/{iid}/notes");
    person.get(&format!("{notes}?sort=asc&activity_filter=only_activity")).await.each("body")
}

#[actix_web::test]
async fn an_epic_is_made_shown_changed_and_removed() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let new = json!({ "title": " Garden ", "description": "All of it", "labels": "new,later",
                      "color": "red", "due_date_is_fixed": true, "due_date_fixed": "2030-02-01" });

    let made = epic(&ada, group, new).await;

    let one = format!("/groups/{group}/epics/{}", made["iid"]);
    assert_eq!(ada.get(&one).await.ok(), made);
    assert_eq!((&made["iid"], &made["group_id"]), (&json!(1), &json!(group)));
    assert_eq!((&made["title"], &made["color"]), (&json!("Garden"), &json!("#ff0000")));
    assert_eq!(
        (&made["due_date"], &made["end_date"]),
        (&json!("2030-02-01"), &json!("2030-02-01"))
    );
    assert_eq!(
        (&made["labels"], &made["author"]["username"]),
        (&json!(["later", "new"]), &json!("ada"))
    );
    assert_eq!(
        (&made["reference"], &made["references"]["full"]),
        (&json!("&1"), &json!("orchid&1"))
    );
    assert_eq!(made["web_url"], "http://forge.test/groups/orchid/-/epics/1");
    assert_eq!(titles(&ada, &format!("/groups/{group}/labels")).await.len(), 2);

    let change = json!({ "state_event": "close", "add_labels": "soon", "remove_labels": "new",
                         "due_date_is_fixed": false, "description": "" });
    let closed = ada.put(&one, change).await.ok();
    assert_eq!(
        (&closed["state"], &closed["labels"]),
        (&json!("closed"), &json!(["later", "soon"]))
    );
    assert_eq!(
        (&closed["due_date"], &closed["due_date_fixed"]),
        (&Value::Null, &json!("2030-02-01"))
    );
    assert_eq!((closed["closed_at"].is_string(), &closed["description"]), (true, &Value::Null));
    let opened = ada.put(&one, json!({ "state_event": "reopen" })).await.ok();
    assert_eq!((&opened["state"], &opened["closed_at"]), (&json!("opened"), &Value::Null));

    ada.delete(&one).await.with(204);
    ada.get(&one).await.refused(404, json!({ "message": HIDDEN }));
    assert_eq!(epic(&ada, group, json!({ "title": "Again" })).await["iid"], 2);
}

#[actix_web::test]
async fn an_epic_that_cannot_be_is_refused() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let epics = format!("/groups/{group}/epics");
    epic(&ada, group, json!({ "title": "Garden" })).await;
    let before = app.row_counts();

    let blank = json!({ "message": { "title": ["can't be blank"] } });
    ada.post(&epics, json!({ "title": " " })).await.refused(400, blank.clone());
    ada.put(&format!("{epics}/1"), json!({ "title": "" })).await.refused(400, blank);
    let color = json!({ "message": { "color": ["must be a valid color code"] } });
    ada.post(&epics, json!({ "title": "A", "color": "#12" })).await.refused(400, color);
    ada.post(&epics, json!({})).await.refused(400, json!({ "error": "title is missing" }));
    assert_eq!(ada.put(&format!("{epics}/1"), json!({})).await.status, 400);
    assert_eq!(app.row_counts(), before);
}

#[actix_web::test]
async fn every_filter_of_a_list_acts() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let below = ada.group("bulb", Some(group)).await;
    let bob = ada.adds("bob", 20, &format!("/groups/{group}")).await;
    epic(&ada, group, json!({ "title": "beds", "labels": "a,b" })).await;
    app.clock.advance(time::Duration::minutes(1));
    epic(
        &app.person("bob"),
        group,
        json!({ "title": "apples", "description": "BEDS too", "labels": "a" }),
    )
    .await;
    app.clock.advance(time::Duration::minutes(1));
    epic(&ada, below, json!({ "title": "cress", "confidential": true })).await;
    ada.put(&format!("/groups/{below}/epics/1"), json!({ "state_event": "close" })).await.ok();
    let epics = format!("/groups/{group}/epics");

    for (query, found) in [
        ("", &["cress", "apples", "beds"][..]),
        ("sort=asc", &["beds", "apples", "cress"]),
        ("order_by=title&sort=asc", &["apples", "beds", "cress"]),
        ("order_by=updated_at", &["cress", "apples", "beds"]),
        ("per_page=1&page=2", &["apples"]),
        ("include_descendant_groups=false", &["apples", "beds"]),
        ("state=closed", &["cress"]),
        ("state=opened", &["apples", "beds"]),
        ("confidential=true", &["cress"]),
        ("author_username=BOB", &["apples"]),
        ("author_username=nobody", &[]),
        ("not[author_username]=bob", &["cress", "beds"]),
        ("labels=a,b", &["beds"]),
        ("labels=None", &["cress"]),
        ("labels=Any", &["apples", "beds"]),
        ("not[labels]=b", &["cress", "apples"]),
        ("search=beds", &["apples", "beds"]),
        ("iids[]=1&include_descendant_groups=false", &["beds"]),
        ("created_after=2100-01-01", &[]),
        ("updated_before=2100-01-01", &["cress", "apples", "beds"]),
    ] {
        assert_eq!(titles(&ada, &format!("{epics}?{query}")).await, found, "{query}");
    }
    assert_eq!(titles(&ada, &format!("{epics}?author_id={bob}")).await, ["apples"]);
    let above = format!("/groups/{below}/epics?include_ancestor_groups=true");
    assert_eq!(titles(&ada, &above).await.len(), 3);
    let detailed = ada.get(&format!("{epics}?labels=b&with_labels_details=true")).await.ok();
    assert_eq!(detailed[0]["labels"][0]["name"], "a");
    let wrong = json!({ "error": "order_by does not have a valid value" });
    ada.get(&format!("{epics}?order_by=weight")).await.refused(400, wrong);
}

#[actix_web::test]
async fn epics_are_for_those_who_see_the_group_and_secrets_for_those_who_report_in_it() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "public").await;
    ada.adds("gus", 10, &format!("/groups/{group}")).await;
    ada.adds("rita", 20, &format!("/groups/{group}")).await;
    epic(&ada, group, json!({ "title": "open" })).await;
    epic(&ada, group, json!({ "title": "secret", "confidential": true })).await;
    let epics = format!("/groups/{group}/epics");
    let (gus, rita) = (app.person("gus"), app.person("rita"));

    for person in [&app.anonymous(), &app.person("eve"), &gus] {
        assert_eq!(titles(person, &epics).await, ["open"], "{}", person.username);
        let hidden = json!({ "message": HIDDEN });
        person.get(&format!("{epics}/2")).await.refused(404, hidden.clone());
        person.get(&format!("{epics}/2/issues")).await.refused(404, hidden);
        assert_eq!(person.get(&epics).await.header("x-total"), Some("1"));
    }
    let forbidden = json!({ "message": "403 Forbidden" });
    gus.post(&epics, json!({ "title": "mine" })).await.refused(403, forbidden.clone());
    assert_eq!(titles(&rita, &epics).await, ["secret", "open"]);
    rita.put(&format!("{epics}/2"), json!({ "title": "ours" })).await.ok();
    rita.delete(&format!("{epics}/2")).await.refused(403, forbidden);
    let private = ada.group("cellar", None).await;
    epic(&ada, private, json!({ "title": "deep" })).await;
    let no_group = json!({ "message": "404 Group Not Found" });
    rita.get(&format!("/groups/{private}/epics")).await.refused(404, no_group);
}

#[actix_web::test]
async fn owners_say_when_an_epic_was_made_and_nobody_else() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    ada.adds("rita", 20, &format!("/groups/{group}")).await;
    let dated = |title: &str| json!({ "title": title, "created_at": "2020-01-02T03:04:05Z" });

    let old = epic(&ada, group, dated("old")).await;
    let new = epic(&app.person("rita"), group, dated("new")).await;

    assert_eq!(old["created_at"], "2020-01-02T03:04:05.000Z");
    assert_ne!(new["created_at"], old["created_at"]);
    let one = format!("/groups/{group}/epics/2");
    let change = json!({ "updated_at": "2020-01-02T03:04:05Z" });
    assert_eq!(ada.put(&one, change).await.ok()["updated_at"], old["created_at"]);
    let since = ada.sending("If-Unmodified-Since", "Wed, 01 Jan 2020 00:00:00 GMT");
    since.delete(&one).await.with(412);
    ada.delete(&one).await.with(204);
}

#[actix_web::test]
async fn epics_of_people_who_are_gone_become_their_heirs_or_go() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    for name in ["bob", "eve"] {
        ada.adds(name, 20, &format!("/groups/{group}")).await;
        epic(&app.person(name), group, json!({ "title": name, "labels": "a" })).await;
    }
    issue(&ada, project, json!({ "title": "a", "epic_iid": 2 })).await;
    let root = app.admin();

    root.delete(&format!("/users/{}", app.user("bob").id)).await.with(204);
    root.delete(&format!("/users/{}?hard_delete=true", app.user("eve").id)).await.with(204);

    let left = ada.get(&format!("/groups/{group}/epics")).await.ok();
    assert_eq!((&left[0]["title"], left.as_array().map(Vec::len)), (&json!("bob"), Some(1)));
    assert_ne!(left[0]["author"]["username"], "bob");
    assert_eq!(app.kept_issue(project, 1).epic_id, None);
}

#[actix_web::test]
async fn nothing_is_left_of_the_epics_of_a_group_that_is_purged() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let label = json!({ "name": "a", "color": "red" });
    ada.post(&format!("/groups/{group}/labels"), label).await.created();
    let before = app.row_counts();
    let below = ada.group("bulb", Some(group)).await;
    let inside = project_in(&ada, below, "site", "private").await;
    let made = epic(&ada, below, json!({ "title": "Garden", "labels": "a" })).await;
    let moved = issue(&ada, inside, json!({ "title": "a", "epic_id": made["id"] })).await;
    let notes = format!("/groups/{below}/epics/1/notes");
    let said = json!({ "body": "See ada/other#1 and @ada" });
    app.person("bob");
    ada.adds("bob", 20, &format!("/groups/{below}")).await;
    app.person("bob").post(&notes, said).await.created();
    let to = json!({ "namespace": "ada" });
    ada.put(&format!("/projects/{inside}/transfer"), to).await.ok();

    assert_eq!(said_of_epics(&app), 1);
    assert_eq!(app.asked_of("ada").len(), 1);
    ada.delete(&format!("/groups/{below}")).await.with(202);
    app.work().await;

    assert_eq!(said_of_epics(&app), 0);
    assert_eq!(app.asked_of("ada"), []);
    assert_eq!(app.row_counts()["item_labels"], before["item_labels"]);
    assert_eq!(moved["epic_iid"], 1);
    assert_eq!(app.kept_issue(inside, 1).epic_id, None);
}

#[actix_web::test]
async fn somebody_hears_of_an_epic_until_they_say_otherwise() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    ada.adds("bob", 10, &format!("/groups/{group}")).await;
    let bob = app.person("bob");
    assert_eq!(epic(&ada, group, json!({ "title": "Garden" })).await["subscribed"], true);
    let one = format!("/groups/{group}/epics/1");
    assert_eq!(bob.get(&one).await.ok()["subscribed"], false);

    let set = bob.post(&format!("{one}/subscribe"), json!({})).await.created();

    assert_eq!((&set["iid"], &set["subscribed"]), (&json!(1), &json!(true)));
    assert_eq!(bob.post(&format!("{one}/subscribe"), json!({})).await.status, 304);
    let unset = bob.post(&format!("{one}/unsubscribe"), json!({})).await.created();
    assert_eq!(unset["subscribed"], false);
    assert_eq!(bob.post(&format!("{one}/unsubscribe"), json!({})).await.status, 304);
    let all = bob.get(&format!("/groups/{group}/epics")).await.ok();
    assert_eq!(all[0]["subscribed"], Value::Null, "not in lists");
}

/// How many notes of epics are kept.
fn said_of_epics(app: &TestApp) -> i64 {
    use db::schema::notes;
    use diesel::prelude::*;
    app.write(|tx| {
        let rows = notes::table.filter(notes::item_kind.eq("Epic")).count();
        db::each_backend!(tx, |conn| rows.get_result(conn).map_err(db::error("Note")))
    })
}
