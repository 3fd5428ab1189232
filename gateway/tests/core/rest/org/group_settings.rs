//! What groups are set to, and what that brings.

use kernel::Visibility;
use serde_json::{Value, json};

use super::groups::group;
use crate::support::TestApp;

#[actix_web::test]
async fn everything_that_a_group_is_set_to_is_told() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({})).await;
    let project = json!({ "path": "templates", "namespace_id": top });
    let templates = ada.post("/projects", project).await.created()["id"].clone();
    let fields = json!({
        "membership_lock": true, "ldap_cn": "staff", "ldap_access": 30, "wiki_access_level": "private",
        "file_template_project_id": templates, "prevent_forking_outside_group": true,
        "ip_restriction_ranges": "10.0.0.0/8, ::1/128", "two_factor_grace_period": 7,
        "prevent_sharing_groups_outside_hierarchy": true, "allow_mfa_for_subgroups": false, "shared_runners_setting": "disabled_and_overridable",
        "require_two_factor_authentication": true, "request_access_enabled": false, "emails_disabled": true,
        "auto_devops_enabled": false, "share_with_group_lock": true, "project_creation_level": "noone",
        "subgroup_creation_level": "owner", "default_branch_protection": 1, "description": "",
        "unique_project_download_limit": 5, "unique_project_download_limit_interval_in_seconds": 60,
        "unique_project_download_limit_allowlist": ["ada"], "auto_ban_user_on_excessive_projects_download": true,
    });

    ada.put("/groups/top", fields.clone()).await.ok();

    let read = ada.get("/groups/top").await.ok();
    // What only a change says.
    let unread = "allow_mfa_for_subgroups";
    assert_eq!(read.get(unread), None);
    let shown = fields.as_object().expect("fields").iter().filter(|(name, _)| *name != unread);
    for (name, value) in shown {
        assert_eq!(read[name], *value, "{name}");
    }
    assert_eq!(read["projects"][0]["id"], templates);
    assert!(read["runners_token"].as_str().is_some_and(|token| token.starts_with("GR1348941")));
    assert!(ada.get("/groups/top?with_projects=false").await.ok().get("projects").is_none());
}

#[actix_web::test]
async fn what_a_group_cannot_be_set_to_is_told_and_nothing_changes() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({})).await;
    let inner = group(&ada, "inner", json!({ "parent_id": top })).await;
    let path = format!("/groups/{inner}");
    let before = ada.get(&path).await.ok();

    for (name, value, text) in [
        ("two_factor_grace_period", json!(-1), "must be greater than or equal to 0"),
        ("unique_project_download_limit", json!(10_001), "must be less than or equal to 10000"),
        (
            "ip_restriction_ranges",
            json!("10.0.0.0/8"),
            "IP restriction only allowed for top-level groups",
        ),
        ("file_template_project_id", json!(999), "is invalid"),
        ("name", json!(""), "can't be blank"),
        ("path", json!("tree"), "tree is a reserved name"),
    ] {
        let refused = ada.put(&path, json!({ name: value })).await.with(400);
        assert_eq!(refused["message"][name][0], text, "{name} {refused}");
    }
    for (name, value) in [
        ("shared_runners_setting", json!("sometimes")),
        ("wiki_access_level", json!("public")),
        ("project_creation_level", json!("everybody")),
        ("default_branch_protection", json!(4)),
        ("ldap_access", json!(15)),
    ] {
        let error = json!({ "error": format!("{name} does not have a valid value") });
        ada.put(&path, json!({ name: value })).await.refused(400, error);
    }
    let limit = json!({ "shared_runners_minutes_limit": 10 });
    ada.put(&path, limit.clone()).await.refused(403, json!({ "message": "403 Forbidden" }));
    assert_eq!(ada.get(&path).await.ok(), before);
    assert_eq!(app.admin().put(&path, limit).await.ok()["shared_runners_minutes_limit"], 10);
    let wrong = ada.put("/groups/top", json!({ "ip_restriction_ranges": "10.0.0.0/33" })).await;
    assert_eq!(
        wrong.with(400)["message"]["ip_restriction_ranges"][0],
        "is an invalid IP address range"
    );
}

#[actix_web::test]
async fn a_group_hands_its_locks_down() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = group(&ada, "top", json!({})).await;
    let inner = group(&ada, "inner", json!({ "parent_id": top })).await;
    let new = json!({ "path": "engine", "namespace_id": inner });
    let engine = ada.post("/projects", new).await.created()["id"].clone();
    let owner = json!({ "user_id": app.user("bob").id, "access_level": 50 });
    ada.post(&format!("/groups/{inner}/members"), owner).await.created();
    let path = format!("/groups/{inner}");

    let locks = json!({ "shared_runners_setting": "disabled_and_unoverridable", "share_with_group_lock": true });
    ada.put("/groups/top", locks).await.ok();

    let read = ada.get(&path).await.ok();
    assert_eq!(read["shared_runners_setting"], "disabled_and_unoverridable");
    assert_eq!(read["share_with_group_lock"], true);
    assert_eq!(ada.get(&format!("/projects/{engine}")).await.ok()["shared_runners_enabled"], false);
    let refused = json!({ "message": { "shared_runners_enabled":
        ["cannot be enabled because parent group has shared Runners disabled"] } });
    ada.put(&path, json!({ "shared_runners_setting": "enabled" })).await.refused(400, refused);
    let refused = json!({ "message": { "allow_descendants_override_disabled_shared_runners":
        ["cannot be enabled because parent group does not allow it"] } });
    ada.put(&path, json!({ "shared_runners_setting": "disabled_with_override" }))
        .await
        .refused(400, refused);
    let locked = "cannot be disabled when the parent group \"Share with group lock\" is enabled, except by the owner \
                  of the parent group";
    bob.put(&path, json!({ "share_with_group_lock": false }))
        .await
        .refused(400, json!({ "message": { "share_with_group_lock": [locked] } }));
    ada.put(&path, json!({ "share_with_group_lock": false })).await.ok();
}

#[actix_web::test]
async fn what_happens_to_a_group_is_announced() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({})).await;
    ada.put("/groups/top", json!({ "path": "peak" })).await.ok();
    ada.delete(&format!("/groups/{top}")).await.with(202);

    let told = app.write(|tx| {
        use db::schema::outbox;
        use diesel::prelude::*;
        let rows = outbox::table.order(outbox::id).select((outbox::kind, outbox::payload));
        let rows: Vec<(String, String)> =
            db::each_backend!(tx, |conn| rows.load(conn).map_err(db::error("Event")))?;
        Ok(rows)
    });

    let groups: Vec<_> = told.iter().filter(|(kind, _)| kind.starts_with("group.")).collect();
    let kinds: Vec<&str> = groups.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["group.create", "group.rename", "group.update", "group.destroy"]);
    let renamed: Value = serde_json::from_str(&groups[1].1).expect("JSON");
    assert_eq!(
        (&renamed["event_name"], &renamed["old_full_path"], &renamed["full_path"]),
        (&json!("group_rename"), &json!("top"), &json!("peak"))
    );
}

#[actix_web::test]
async fn new_projects_take_over_that_shared_runners_are_off() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({})).await;
    let set = async |setting: &str| {
        ada.put("/groups/top", json!({ "shared_runners_setting": setting })).await.ok();
    };
    let make = async |path: &str, more: Value| {
        let mut fields = json!({ "path": path, "namespace_id": top });
        fields.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        ada.post("/projects", fields).await
    };
    let on = json!({ "shared_runners_enabled": true });

    let before = make("before", json!({})).await.created();
    assert_eq!(before["shared_runners_enabled"], true);
    set("disabled_and_overridable").await;
    assert_eq!(make("off", json!({})).await.created()["shared_runners_enabled"], false);
    assert_eq!(make("on", on.clone()).await.created()["shared_runners_enabled"], true);
    set("disabled_and_unoverridable").await;
    let why = json!({ "message": { "shared_runners_enabled": ["cannot be enabled because parent group does not allow it"] } });
    make("never", on.clone()).await.refused(400, why.clone());
    ada.put("/projects/top%2Foff", on).await.refused(400, why);
    let home = app.project(&ada, "home", Visibility::Private);
    let moved = ada.put(&format!("/projects/{home}/transfer"), json!({ "namespace": top })).await;
    assert_eq!(moved.ok()["shared_runners_enabled"], false);
}

#[actix_web::test]
async fn the_group_at_the_top_decides_whether_others_demand_a_second_factor() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({})).await;
    let inner = group(&ada, "inner", json!({ "parent_id": top })).await;
    let deep = group(&ada, "deep", json!({ "parent_id": inner })).await;
    let alone = group(&ada, "alone", json!({})).await;
    let (demand, field) =
        (json!({ "require_two_factor_authentication": true }), "require_two_factor_authentication");
    for id in [deep, alone] {
        assert_eq!(ada.put(&format!("/groups/{id}"), demand.clone()).await.ok()[field], true);
    }

    let closed = json!({ "allow_mfa_for_subgroups": false });
    ada.put("/groups/top", closed.clone()).await.ok();

    assert_eq!(ada.get(&format!("/groups/{deep}")).await.ok()[field], false);
    let why = json!({ "message": { field: ["is forbidden by a top-level group"] } });
    ada.put(&format!("/groups/{deep}"), demand.clone()).await.refused(400, why);
    let new = json!({ "name": "x1", "path": "x1", "parent_id": deep, field: true });
    let told = ada.post("/groups", new).await.with(400)["message"].to_string();
    assert!(told.contains("is forbidden by a top-level group"), "{told}");
    assert_eq!(ada.put("/groups/top", demand).await.ok()[field], true, "the top itself may");
    let inside = json!({ "group_id": inner });
    let moved = ada.post(&format!("/groups/{alone}/transfer"), inside).await.created();
    assert_eq!(moved[field], false);
    let told = ada.put(&format!("/groups/{inner}"), closed).await.with(400)["message"].clone();
    let text = "is not allowed since the group is not top-level group.";
    assert_eq!(told, json!({ "allow_mfa_for_subgroups": [text] }));
}
