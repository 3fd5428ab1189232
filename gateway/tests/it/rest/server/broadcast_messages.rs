//! Broadcast messages: `gateway/src/rest/server/broadcast_messages.rs`.

use serde_json::json;

use crate::support::TestApp;

const PATH: &str = "/broadcast_messages";

#[actix_web::test]
async fn administrators_tell_everybody_something_for_some_time() {
    let app = TestApp::new();
    let root = app.admin();
    let made = root
        .post(PATH, json!({ "message": "Down at noon", "target_access_levels": [10, 30] }))
        .await
        .created();

    assert_eq!((&made["active"], &made["color"]), (&json!(true), &json!("#E75E40")));
    assert_eq!(
        (&made["broadcast_type"], &made["target_access_levels"]),
        (&json!("banner"), &json!([10, 30]))
    );
    let one = format!("{PATH}/{}", made["id"]);
    assert_eq!(app.anonymous().get(&one).await.ok(), made);
    let changed =
        root.put(&one, json!({ "broadcast_type": "notification", "dismissable": true })).await.ok();
    assert_eq!(
        (&changed["broadcast_type"], &changed["message"]),
        (&json!("notification"), &json!("Down at noon"))
    );
    app.clock.advance(time::Duration::hours(1));
    assert_eq!(app.anonymous().get(PATH).await.each("active"), [json!(false)]);
    assert_eq!(root.delete(&one).await.ok()["id"], made["id"]);
    assert_eq!(root.get(&one).await.status, 404);
}

#[actix_web::test]
async fn a_message_that_cannot_be_is_refused() {
    let app = TestApp::new();
    let root = app.admin();
    root.post(PATH, json!({})).await.refused(400, json!({ "error": "message is missing" }));
    let blank = json!({ "message": { "message": ["can't be blank"] } });
    root.post(PATH, json!({ "message": " " })).await.refused(400, blank);
    let odd = json!({ "error": "target_access_levels does not have a valid value" });
    root.post(PATH, json!({ "message": "x", "target_access_levels": [7] })).await.refused(400, odd);
    let color = json!({ "message": { "color": ["must be a valid color code"] } });
    root.post(PATH, json!({ "message": "x", "color": "reddish" })).await.refused(400, color);
    assert_eq!(app.person("ada").post(PATH, json!({ "message": "x" })).await.status, 403);
    assert!(root.get(PATH).await.each("id").is_empty());
}
