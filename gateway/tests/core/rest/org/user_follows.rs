//! Who wants to hear of whom.

use db::schema::{user_follows, users};
use diesel::prelude::*;
use org::user::actions::{self, NewUser};
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn people_follow_one_another_once() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let of_bob = format!("/users/{}", app.user("bob").id);
    let of_ada = format!("/users/{}", app.user("ada").id);

    let followed = ada.post(&format!("{of_bob}/follow"), json!({})).await.created();

    assert_eq!(followed["username"], "bob");
    assert!(followed.get("email").is_none());
    assert_eq!(ada.post(&format!("{of_bob}/follow"), json!({})).await.status, 304);
    assert_eq!(ada.post(&format!("{of_ada}/follow"), json!({})).await.status, 304);
    assert_eq!(bob.get(&format!("{of_bob}/followers")).await.each("username"), ["ada"]);
    assert_eq!(bob.get(&format!("{of_ada}/following")).await.each("username"), ["bob"]);
    let left = ada.post(&format!("{of_bob}/unfollow"), json!({})).await.created();
    assert_eq!(left["username"], "bob");
    assert_eq!(ada.post(&format!("{of_bob}/unfollow"), json!({})).await.status, 304);
    assert!(bob.get(&format!("{of_bob}/followers")).await.each("username").is_empty());
}

#[actix_web::test]
async fn lists_hold_only_whom_one_can_meet() {
    let app = TestApp::new();
    let (ada, bob, cara) = (app.person("ada"), app.person("bob"), app.person("cara"));
    let of_bob = format!("/users/{}", app.user("bob").id);
    for person in [&ada, &cara] {
        person.post(&format!("{of_bob}/follow"), json!({})).await.created();
    }
    let list = format!("{of_bob}/followers");
    let page = ada.get(&format!("{list}?per_page=1&page=2")).await;
    assert_eq!((page.header("x-total"), &page.body[0]["username"]), (Some("2"), &json!("ada")));

    app.block("cara");
    assert_eq!(ada.get(&list).await.each("username"), ["ada"]);

    let told = json!({ "message": "403 Forbidden - Not authorized!" });
    app.anonymous().get(&list).await.refused(403, told);
    let hidden = json!({ "message": "404 User Not Found" });
    ada.get("/users/999/following").await.refused(404, hidden.clone());
    ada.post("/users/999/follow", json!({})).await.refused(404, hidden.clone());
    app.hide_profile("bob");
    ada.get(&list).await.refused(404, hidden);
    bob.get(&list).await.ok();
    app.admin().get(&list).await.ok();
}

#[actix_web::test]
async fn nobody_follows_more_than_three_hundred() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let follower = app.user("ada").id;
    let many = 300;
    app.write(move |tx| {
        for number in 0..many {
            let new = NewUser { bot: true, ..NewUser::named(&format!("star{number}")) };
            let star = actions::create(tx, &new)?;
            let row = (
                user_follows::follower_id.eq(follower),
                user_follows::followee_id.eq(star.id),
                user_follows::created_at.eq(tx.now),
            );
            let insert = diesel::insert_into(user_follows::table).values(row);
            db::each_backend!(tx, |conn| insert.execute(conn).map_err(db::error("User")))?;
        }
        Ok(())
    });
    app.person("bob");
    let path = format!("/users/{}/follow", app.user("bob").id);

    let told = "You can't follow more than 300 users. To follow more users, unfollow some others.";
    ada.post(&path, json!({})).await.refused(400, json!({ "message": told }));

    app.write(move |tx| {
        let first = users::table.filter(users::username.eq("star0")).select(users::id);
        let row = user_follows::table.filter(user_follows::followee_id.eq_any(first));
        db::each_backend!(tx, |conn| diesel::delete(row).execute(conn).map_err(db::error("User")))
    });
    ada.post(&path, json!({})).await.created();
}
