//! Groups elsewhere that groups are linked with, and whom a group brought here.

use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn groups_of_a_directory_are_linked_by_name_or_by_a_filter() {
    let app = TestApp::new();
    let ada = app.person("ada");
    ada.group("top", None).await;
    let path = "/groups/top/ldap_group_links";
    let named = json!({ "cn": "staff", "group_access": 30, "provider": "ldapmain" });
    let none = json!({ "message": "No linked LDAP groups found" });
    ada.get(path).await.refused(404, none);

    let made = ada.post(path, named.clone()).await.created();
    let filter = json!({ "filter": "(uid=a*)", "group_access": 10, "provider": "ldapmain" });
    ada.post(path, filter.clone()).await.created();

    let shown =
        json!({ "cn": "staff", "group_access": 30, "provider": "ldapmain", "filter": null });
    assert_eq!(made, shown);
    assert_eq!(ada.get(path).await.each("filter"), [json!(null), json!("(uid=a*)")]);
    let second = ada.get(&format!("{path}?per_page=1&page=2")).await;
    assert_eq!(second.header("x-total"), Some("2"));
    assert_eq!(second.each("group_access"), [10]);
    let taken = json!({ "message": "Cn has already been taken" });
    ada.post(path, named).await.refused(409, taken);
    let taken = json!({ "message": "Filter has already been taken" });
    ada.post(path, filter).await.refused(409, taken);
    let elsewhere = json!({ "cn": "staff", "group_access": 30, "provider": "ldapother" });
    ada.post(path, elsewhere).await.created();
}

#[actix_web::test]
async fn a_link_to_a_directory_says_one_thing_only() {
    let app = TestApp::new();
    let ada = app.person("ada");
    ada.group("top", None).await;
    let path = "/groups/top/ldap_group_links";

    for (wrong, told) in [
        (
            json!({ "group_access": 30, "provider": "x" }),
            "cn, filter are missing, exactly one parameter must be provided",
        ),
        (
            json!({ "cn": "a", "filter": "b", "group_access": 30, "provider": "x" }),
            "cn, filter are mutually exclusive",
        ),
        (json!({ "cn": "a" }), "group_access is missing, provider is missing"),
        (
            json!({ "cn": "a", "group_access": 35, "provider": "x" }),
            "group_access does not have a valid value",
        ),
    ] {
        ada.post(path, wrong).await.refused(400, json!({ "error": told }));
    }
    let blank = json!({ "cn": " ", "group_access": 30, "provider": "x" });
    ada.post(path, blank).await.refused(409, json!({ "message": "Cn can't be blank" }));
    ada.get(path).await.with(404);
    ada.adds("bob", 40, "/groups/top").await;
    let forbidden = json!({ "message": "403 Forbidden" });
    app.person("bob").get(path).await.refused(403, forbidden);
}

#[actix_web::test]
async fn links_to_a_directory_end_in_three_ways() {
    let app = TestApp::new();
    let ada = app.person("ada");
    ada.group("top", None).await;
    let path = "/groups/top/ldap_group_links";
    for (field, text) in [("cn", "a"), ("cn", "b"), ("cn", "c"), ("filter", "d")] {
        let link = json!({ field: text, "group_access": 30, "provider": "main" });
        ada.post(path, link).await.created();
    }

    ada.delete(&format!("{path}/a")).await.with(204);
    ada.delete(&format!("{path}/main/b")).await.with(204);
    ada.delete(&format!("{path}?cn=c&provider=main")).await.with(204);
    assert_eq!(ada.get(path).await.each("filter"), ["d"]);
    let absent = json!({ "message": "Linked LDAP group not found" });
    for gone in ["/a", "/other/d", "?cn=c&provider=main", "?filter=d&provider=other"] {
        ada.delete(&format!("{path}{gone}")).await.refused(404, absent.clone());
    }
    ada.delete(&format!("{path}?filter=d&provider=main")).await.with(204);

    ada.get(path).await.with(404);
}

#[actix_web::test]
async fn groups_that_a_sign_in_tells_of_are_linked_by_name() {
    let app = TestApp::new();
    let ada = app.person("ada");
    ada.group("top", None).await;
    let path = "/groups/top/saml_group_links";
    let link = json!({ "saml_group_name": "All staff", "access_level": 20 });

    let made = ada.post(path, link.clone()).await.created();

    assert_eq!(made, json!({ "name": "All staff", "access_level": 20 }));
    assert_eq!(ada.get(&format!("{path}/All%20staff")).await.ok(), made);
    assert_eq!(ada.get(path).await.ok(), json!([made]));
    assert_eq!(ada.get(&format!("{path}?page=2")).await.ok(), json!([]));
    let taken = json!({ "message": { "saml_group_name": ["has already been taken"] } });
    ada.post(path, link).await.refused(400, taken);
    let wrong = json!({ "saml_group_name": "x", "access_level": "Guest" });
    ada.post(path, wrong).await.refused(400, json!({ "error": "access_level is invalid" }));
    ada.adds("bob", 40, "/groups/top").await;
    app.person("bob").get(path).await.with(403);
    ada.delete(&format!("{path}/All%20staff")).await.with(204);
    let absent = json!({ "message": "Linked SAML group link not found" });
    ada.get(&format!("{path}/All%20staff")).await.refused(404, absent.clone());
    ada.delete(&format!("{path}/All%20staff")).await.refused(404, absent);
}

#[actix_web::test]
async fn whom_a_group_brought_here_is_listed_for_its_maintainers() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    let top = ada.group("top", None).await;
    let path = format!("/groups/{top}/provisioned_users");
    for name in ["cara", "dora", "emil"] {
        let person = json!({ "username": name, "name": name, "email": format!("{name}@y.test"),
            "force_random_password": true, "extern_uid": name, "provider": "group_saml",
            "group_id_for_saml": top });
        root.post("/users", person).await.created();
    }
    app.block("dora");
    ada.adds("bob", 40, &format!("/groups/{top}")).await;
    let bob = app.person("bob");

    let all = bob.get(&path).await;
    assert_eq!(all.header("x-total"), Some("3"));
    assert_eq!(all.body[0]["email"], "emil@y.test");
    assert_eq!(all.body[0]["identities"][0]["saml_provider_id"], top);
    assert_eq!(all.body[0].get("is_admin"), None);
    assert_eq!(all.each("username"), ["emil", "dora", "cara"]);
    let by = async |query: &str| bob.get(&format!("{path}?{query}")).await.each("username");
    assert_eq!(by("active=true").await, ["emil", "cara"]);
    assert_eq!(by("blocked=true").await, ["dora"]);
    assert_eq!(by("username=CARA").await, ["cara"]);
    assert_eq!(by("search=emi").await, ["emil"]);
    assert_eq!(by("per_page=1&page=3").await, ["cara"]);
    assert!(by("created_before=2020-01-01").await.is_empty());
    let wrong = json!({ "error": "active is invalid" });
    bob.get(&format!("{path}?active=perhaps")).await.refused(400, wrong);
    ada.adds("gus", 30, &format!("/groups/{top}")).await;
    app.person("gus").get(&path).await.with(403);
}
