//! The picture of whoever shows an address.

use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn only_who_shows_an_address_is_found_by_it() {
    let app = TestApp::new();
    app.person("ada");
    app.person("bob");
    app.show_publicly("ada", "ada@example.com");
    app.picture("ada", "face.png");
    app.picture("bob", "face.png");
    let nobody = app.anonymous();
    let id = app.user("ada").id;

    let found = nobody.get("/avatar?email=ADA@example.com").await.ok();

    let url = format!("http://forge.test/uploads/-/system/user/avatar/{id}/face.png");
    assert_eq!(found, json!({ "avatar_url": url }));
    let small = nobody.get("/avatar?email=ada@example.com&size=32").await.ok();
    assert_eq!(small, json!({ "avatar_url": format!("{url}?width=32") }));
    let elsewhere = "https://www.gravatar.com/avatar/";
    for hidden in ["bob", "eve"] {
        let found = nobody.get(&format!("/avatar?email={hidden}@example.com")).await.ok();
        let url = found["avatar_url"].as_str().expect("an address").to_owned();
        assert!(url.starts_with(elsewhere) && url.ends_with("?s=80&d=identicon"), "{url}");
    }
    app.block("ada");
    let small = nobody.get("/avatar?email=ada@example.com&size=32").await.ok();
    let url = small["avatar_url"].as_str().expect("an address").to_owned();
    assert!(url.starts_with(elsewhere) && url.ends_with("?s=64&d=identicon"), "{url}");
}

#[actix_web::test]
async fn whoever_has_no_picture_is_shown_with_that_of_the_address() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.show_publicly("ada", "ada@example.com");

    let found = ada.get("/avatar?email=ada@example.com").await.ok();

    assert_eq!(found["avatar_url"], ada.get("/user").await.ok()["avatar_url"]);
    let off = json!({ "gravatar_enabled": false });
    app.admin().put("/application/settings", off).await.ok();
    let none = ada.get("/avatar?email=eve@example.com").await.ok();
    assert_eq!(none, json!({ "avatar_url": null }));
}

#[actix_web::test]
async fn nobody_from_outside_asks_where_nothing_is_public() {
    let app = TestApp::new();
    let closed = json!({ "restricted_visibility_levels": ["public"] });
    app.admin().put("/application/settings", closed).await.ok();

    let told = json!({ "message": "403 Forbidden - Unauthorized access" });
    app.anonymous().get("/avatar?email=a@b.c").await.refused(403, told);
    app.person("ada").get("/avatar?email=a@b.c").await.ok();
    let missing = json!({ "error": "email is missing" });
    app.person("ada").get("/avatar").await.refused(400, missing);
    let wrong = json!({ "error": "size is invalid" });
    app.person("ada").get("/avatar?email=a@b.c&size=x").await.refused(400, wrong);
}
