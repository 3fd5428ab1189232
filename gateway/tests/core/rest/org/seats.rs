//! Who counts below a top-level group, and who waits for approval there.

use kernel::AccessLevel::Developer;
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn everybody_below_a_group_counts_once() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (top, other) = (ada.group("top", None).await, ada.group("other", None).await);
    let inner = ada.group("inner", Some(top)).await;
    let fields = json!({ "name": "tool", "namespace_id": inner });
    let project = ada.post("/projects", fields).await.created()["id"].clone();
    ada.adds("bob", 10, &format!("/groups/{inner}")).await;
    ada.adds("cara", 30, &format!("/projects/{project}")).await;
    ada.adds("bob", 40, &format!("/projects/{project}")).await;
    ada.adds("dora", 40, &format!("/groups/{other}")).await;
    ada.adds("eve", 5, &format!("/groups/{top}")).await;
    app.invite_group(inner, other, Developer);
    let path = format!("/groups/{top}/billable_members");

    let listed = ada.get(&path).await;
    assert_eq!(listed.header("x-total"), Some("4"));
    assert_eq!(listed.each("username"), ["ada", "bob", "cara", "dora"]);
    assert_eq!(
        ada.get(&path).await.each("membership_type"),
        ["group_member", "group_member", "project_member", "group_invite"]
    );
    assert_eq!(ada.get(&path).await.each("removable"), [true, true, true, false]);
    let by = async |sort: &str| ada.get(&format!("{path}?sort={sort}")).await.each("username");
    assert_eq!(by("access_level_desc").await, ["ada", "bob", "cara", "dora"]);
    assert_eq!(by("name_desc").await, ["dora", "cara", "bob", "ada"]);
    assert_eq!(by("last_joined").await.len(), 4);
    assert_eq!(ada.get(&format!("{path}?search=AR")).await.each("username"), ["cara"]);
    assert_eq!(ada.get(&format!("{path}?per_page=1&page=2")).await.each("username"), ["bob"]);
    let beyond = ada.get(&format!("{path}?page=9")).await;
    assert_eq!(beyond.header("x-total"), Some("4"));
    assert!(beyond.each("id").is_empty());
    let wrong = json!({ "error": "sort does not have a valid value" });
    ada.get(&format!("{path}?sort=none")).await.refused(400, wrong);
}

#[actix_web::test]
async fn only_owners_of_top_level_groups_count() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = ada.group("top", None).await;
    let inner = ada.group("inner", Some(top)).await;
    ada.adds("bob", 40, &format!("/groups/{top}")).await;
    let bare = json!({ "message": "400 Bad request" });

    for list in ["billable_members", "pending_members", "billable_members/1/memberships"] {
        ada.get(&format!("/groups/{inner}/{list}")).await.refused(400, bare.clone());
        bob.get(&format!("/groups/{top}/{list}")).await.refused(400, bare.clone());
    }
    let hidden = json!({ "message": "404 Group Not Found" });
    app.person("eve").get(&format!("/groups/{top}/billable_members")).await.refused(404, hidden);
}

#[actix_web::test]
async fn the_memberships_of_somebody_who_counts_are_shown_and_taken() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = ada.group("top", None).await;
    let inner = ada.group("inner", Some(top)).await;
    let bob = ada.adds("bob", 30, &format!("/groups/{inner}")).await;
    let one = format!("/groups/{top}/billable_members/{bob}");

    let found = ada.get(&format!("{one}/memberships")).await.ok();
    assert_eq!(found[0]["source_full_name"], "top / inner");
    assert_eq!(
        found[0]["access_level"],
        json!({ "string_value": "Developer", "integer_value": 30 })
    );
    assert_eq!(
        found[0]["source_members_url"],
        "http://forge.test/groups/top/inner/-/group_members"
    );
    assert!(ada.get(&format!("{one}/indirect")).await.each("id").is_empty());
    assert_eq!(ada.delete(&one).await.status, 204);
    assert_eq!(app.person("bob").get(&format!("/groups/{inner}")).await.status, 404);
    let text = "400 Bad request - No member found for the given user_id";
    ada.delete(&one).await.refused(400, json!({ "message": text }));
    let gone = json!({ "message": "404 User Not Found" });
    ada.get(&format!("{one}/memberships")).await.refused(404, gone);
    let unknown = format!("/groups/{top}/billable_members/999/memberships");
    ada.get(&unknown).await.refused(404, json!({ "message": "404 Not found" }));
    let own = format!("/groups/{top}/billable_members/{}", app.user("ada").id);
    assert_eq!(ada.delete(&own).await.status, 400, "somebody must own the group");
}

#[actix_web::test]
async fn a_membership_rests_until_it_is_approved() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = ada.group("top", None).await;
    let bob = ada.adds("bob", 30, &format!("/groups/{top}")).await;
    let person = app.person("bob");
    let state = format!("/groups/{top}/members/{bob}/state");

    let done = ada.put(&state, json!({ "state": "awaiting" })).await.ok();
    assert_eq!(done, json!({ "success": true }));
    assert_eq!(person.get(&format!("/groups/{top}")).await.status, 404);
    let shown = ada.get(&format!("/groups/{top}/members")).await.ok();
    assert_eq!(
        (&shown[1]["membership_state"], &shown[1]["access_level"]),
        (&json!("awaiting"), &json!(30))
    );
    let all = format!("/groups/{top}/members/all");
    assert_eq!(ada.get(&format!("{all}?state=awaiting")).await.each("username"), ["bob"]);
    assert_eq!(ada.get(&format!("{all}?state=active")).await.each("username"), ["ada"]);
    assert_eq!(ada.get(&all).await.each("username"), ["ada", "bob"]);
    let pending = ada.get(&format!("/groups/{top}/pending_members")).await.ok();
    assert_eq!((&pending[0]["username"], &pending[0]["approved"]), (&json!("bob"), &json!(false)));

    let approve = format!("/groups/{top}/members/{}/approve", pending[0]["id"]);
    assert_eq!(ada.put(&approve, json!({})).await.status, 204);
    assert_eq!(person.get(&format!("/groups/{top}")).await.status, 200);
    let none = json!({ "message": "400 Bad request - No memberships found" });
    ada.put(&approve, json!({})).await.refused(400, none.clone());
    ada.post(&format!("/groups/{top}/members/approve_all"), json!({})).await.refused(400, none);
}

#[actix_web::test]
async fn not_everybody_can_be_put_to_rest() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = ada.group("top", None).await;
    let own = format!("/groups/{top}/members/{}/state", app.user("ada").id);
    let rest = json!({ "state": "awaiting" });

    let last = json!({ "message": "The last owner cannot be set to awaiting" });
    ada.put(&own, rest.clone()).await.refused(422, last);
    ada.adds("bob", 50, &format!("/groups/{top}")).await;
    let oneself = json!({ "message": "You cannot set yourself to awaiting" });
    ada.put(&own, rest.clone()).await.refused(422, oneself);
    let active = json!({ "state": "active" });
    let none = json!({ "message": "No memberships found" });
    ada.put(&own, active).await.refused(422, none);
    let unknown = format!("/groups/{top}/members/999/state");
    ada.put(&unknown, rest).await.refused(404, json!({ "message": "404 User Not Found" }));
}

#[actix_web::test]
async fn whoever_is_put_to_rest_is_looked_for_before_the_group() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = ada.group_with("top", json!({ "visibility": "private" })).await;
    let inner = ada.group("inner", Some(top)).await;
    let (known, rest) = (app.user("ada").id, json!({ "state": "awaiting" }));
    let nobody = json!({ "message": "404 User Not Found" });
    let nowhere = json!({ "message": "404 Group Not Found" });

    ada.put("/groups/none/members/999/state", rest.clone()).await.refused(404, nobody.clone());
    bob.put(&format!("/groups/{top}/members/999/state"), rest.clone()).await.refused(404, nobody);
    bob.put(&format!("/groups/{top}/members/{known}/state"), rest.clone())
        .await
        .refused(404, nowhere);
    let bare = json!({ "message": "400 Bad request" });
    ada.put(&format!("/groups/{inner}/members/{known}/state"), rest).await.refused(400, bare);
    let wrong = json!({ "error": "state does not have a valid value" });
    let asleep = json!({ "state": "asleep" });
    ada.put("/groups/none/members/999/state", asleep).await.refused(400, wrong);
}

#[actix_web::test]
async fn invited_addresses_wait_too_and_nobody_comes_from_a_directory() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = ada.group("top", None).await;
    let invite = json!({ "email": "x@y.test", "access_level": 30 });
    ada.post(&format!("/groups/{top}/invitations"), invite).await.created();

    let pending = ada.get(&format!("/groups/{top}/pending_members")).await.ok();
    assert_eq!((&pending[0]["email"], &pending[0]["invited"]), (&json!("x@y.test"), &json!(true)));
    assert_eq!(pending[0].get("username"), None);
    let bob = ada.adds("bob", 30, &format!("/groups/{top}")).await;
    let over = format!("/groups/{top}/members/{bob}/override");
    ada.post(&over, json!({})).await.refused(403, json!({ "message": "403 Forbidden" }));
    assert_eq!(ada.delete(&over).await.status, 403);
}

#[actix_web::test]
async fn who_counts_follows_every_change() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (top, other) = (ada.group("top", None).await, ada.group("other", None).await);
    let inner = ada.group("inner", Some(top)).await;
    let project = json!({ "path": "tool", "namespace_id": inner });
    let project = ada.post("/projects", project).await.created()["id"].clone();
    let path = format!("/groups/{top}/billable_members");
    let counted = async || ada.get(&path).await.each("username");
    assert_eq!(counted().await, ["ada"]);

    let bob = ada.adds("bob", 30, &format!("/projects/{project}")).await;
    assert_eq!(counted().await, ["ada", "bob"]);
    let cara = ada.adds("cara", 30, &format!("/groups/{other}")).await;
    assert_eq!(counted().await, ["ada", "bob"], "she is elsewhere");
    let share = json!({ "group_id": other, "group_access": 30 });
    ada.post(&format!("/groups/{inner}/share"), share).await.created();
    assert_eq!(counted().await, ["ada", "bob", "cara"]);
    ada.adds("dora", 10, &format!("/groups/{other}")).await;
    assert_eq!(counted().await, ["ada", "bob", "cara", "dora"], "she is in what was invited");
    ada.delete(&format!("/groups/{other}/members/{cara}")).await;
    assert_eq!(counted().await, ["ada", "bob", "dora"]);
    ada.delete(&format!("/groups/{inner}/share/{other}")).await;
    assert_eq!(counted().await, ["ada", "bob"]);
    let end = json!({ "access_level": 30, "expires_at": "2026-03-10" });
    ada.put(&format!("/projects/{project}/members/{bob}"), end).await.ok();
    assert_eq!(counted().await, ["ada", "bob"]);
    app.clock.advance(time::Duration::days(400));
    assert_eq!(counted().await, ["ada"], "what has ended does not count");
    let eve = json!({ "user_id": app.id_of("eve"), "access_level": 30 });
    ada.post(&format!("/projects/{project}/members"), eve).await.created();
    assert_eq!(counted().await, ["ada", "eve"]);
    app.block("eve");
    assert_eq!(counted().await, ["ada"], "nor does who is kept out");
    ada.adds("finn", 30, &format!("/groups/{inner}")).await;
    assert_eq!(counted().await, ["ada", "finn"]);
    ada.post(&format!("/groups/{inner}/transfer"), json!({ "group_id": other })).await.created();
    assert_eq!(counted().await, ["ada"]);
    let theirs = format!("/groups/{other}/billable_members");
    assert_eq!(ada.get(&theirs).await.each("username"), ["ada", "dora", "finn"]);
    ada.delete(&format!("/groups/{inner}")).await;
    assert_eq!(ada.get(&theirs).await.each("username"), ["ada", "dora"]);
}

#[actix_web::test]
async fn a_project_that_leaves_takes_its_people_along() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (top, other) = (ada.group("top", None).await, ada.group("other", None).await);
    let of = |group: i64| format!("/groups/{group}/billable_members");
    let counted = async |group: i64| ada.get(&of(group)).await.each("username");
    for (path, person) in [("one", "bob"), ("two", "cara")] {
        let project = json!({ "path": path, "namespace_id": top });
        let project = ada.post("/projects", project).await.created()["id"].clone();
        ada.adds(person, 30, &format!("/projects/{project}")).await;
    }
    assert_eq!(counted(top).await, ["ada", "bob", "cara"]);
    assert_eq!(counted(other).await, ["ada"]);

    ada.put("/projects/top%2Fone/transfer", json!({ "namespace": other })).await.ok();
    assert_eq!((counted(top).await.len(), counted(other).await.len()), (2, 2));
    ada.delete("/projects/top%2Ftwo").await;
    assert_eq!(counted(top).await, ["ada"]);
}
