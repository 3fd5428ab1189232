//! Integrations that projects have from groups and from the installation.

use admin::integration::actions::{IntegrationChange, disable, list, read, set};
use kernel::{Result, ids::IntegrationId};
use serde_json::{Value, json};

use crate::world::{FakeRule, World, change, kind, test};

fn chat(room: &str) -> Value {
    json!({ "webhook": format!("https://chat.example.com/{room}") })
}

/// Where a project's chat room is, and whether that is said elsewhere.
fn room(tx: &mut db::Tx<'_>, world: &World) -> Result<(String, bool)> {
    let found = read(tx, &world.integrations(), &[world.group], kind("pumble"))?;
    let url = found.source.values(&world.vault)?["webhook"].as_str().unwrap_or_default().to_owned();
    Ok((url.rsplit('/').next().unwrap_or_default().to_owned(), found.is_inherited))
}

#[test]
fn the_nearest_settings_count() {
    test(|tx, world| {
        let rule = (&world.vault, &FakeRule);
        set(tx, &world.administers(), rule, &[], kind("pumble"), &change(&chat("all")))?;
        assert_eq!(room(tx, world)?, ("all".to_owned(), true));
        world.set_in_group(tx, "pumble", &chat("group"))?;
        assert_eq!(room(tx, world)?, ("group".to_owned(), true));
        world.set(tx, "pumble", &chat("own"))?;
        assert_eq!(room(tx, world)?, ("own".to_owned(), false));
        Ok(())
    });
}

#[test]
fn a_project_returns_to_what_there_is_above() {
    test(|tx, world| {
        let above = world.set_in_group(tx, "pumble", &chat("group"))?.row.id;
        world.set(tx, "pumble", &chat("own"))?;
        let from =
            |id| IntegrationChange { inherits_from: Some(id), ..IntegrationChange::default() };
        let grant = world.integrations();
        let rule = (&world.vault, &FakeRule);
        let unknown = from(Some(IntegrationId(above.0 + 100)));
        assert!(set(tx, &grant, rule, &[world.group], kind("pumble"), &unknown).is_err());
        set(tx, &grant, rule, &[world.group], kind("pumble"), &from(Some(above)))?;
        assert_eq!(room(tx, world)?, ("group".to_owned(), true));
        let own = IntegrationChange { inherits_from: Some(None), ..change(&chat("own")) };
        set(tx, &grant, rule, &[world.group], kind("pumble"), &own)?;
        assert_eq!(room(tx, world)?, ("own".to_owned(), false));
        Ok(())
    });
}

#[test]
fn a_project_switches_off_what_its_group_gives() {
    test(|tx, world| {
        world.set_in_group(tx, "pumble", &chat("group"))?;
        let grant = world.integrations();
        assert_eq!(list(tx, &grant, &[world.group])?.len(), 1);
        disable(tx, &grant, (&world.vault, &[world.group]), kind("pumble"), None)?;
        assert!(list(tx, &grant, &[world.group])?.is_empty());
        assert_eq!(list(tx, &world.group_integrations(), &[])?.len(), 1);
        Ok(())
    });
}

#[test]
fn what_is_switched_off_above_is_inherited_by_nobody() {
    test(|tx, world| {
        world.set_in_group(tx, "pumble", &chat("group"))?;
        disable(tx, &world.group_integrations(), (&world.vault, &[]), kind("pumble"), None)?;
        assert!(list(tx, &world.integrations(), &[world.group])?.is_empty());
        assert!(read(tx, &world.integrations(), &[world.group], kind("pumble")).is_err());
        Ok(())
    });
}
