//! Making, changing and removing nodes: `crates/geo/src/node/actions.rs`

use geo::{
    Role, event_log,
    node::{
        NodeChange,
        actions::{self, NodeKeeper},
    },
};
use kernel::{
    error::{Kind, Message},
    ids::{GeoNodeId, NamespaceId},
    page::PageRequest,
};

use super::world::{Applications, World, administrator, primary, secondary};

fn names(world: &World) -> Vec<String> {
    let page = PageRequest::default();
    let all = world.write(move |tx, _| actions::list(tx, &administrator(), page));
    all.expect("nodes are read").items.into_iter().map(|node| node.name).collect()
}

#[test]
fn a_new_node_has_a_key_of_its_own_which_only_its_row_unseals() {
    let world = World::of(Role::Primary);
    let made = world.write(|tx, context| {
        let node = actions::create(tx, &administrator(), context, primary("north"))?;
        let other = geo::node::GeoNode { access_key: "other".to_owned(), ..node.clone() };
        assert!(node.secret_key(context.vault).is_ok() && other.secret_key(context.vault).is_err());
        Ok(node)
    });

    let node = made.expect("the node is made");

    assert_eq!((&*node.name, &*node.url, node.primary), ("north", "https://north.test/", true));
    assert_eq!((node.files_max_capacity, node.minimum_reverification_interval), (10, 7));
    assert_eq!(names(&world), ["north"]);
}

#[test]
fn what_a_node_cannot_be_is_told_for_each_field_and_changes_nothing() {
    let world = World::of(Role::Primary);
    let wrong = NodeChange {
        name: Some(" ".to_owned()),
        url: Some("ftp://north.test".to_owned()),
        internal_url: Some(Some("inner".to_owned())),
        enabled: Some(false),
        files_max_capacity: Some(-1),
        minimum_reverification_interval: Some(0),
        selective_sync_type: Some(Some("cities".to_owned())),
        ..primary("north")
    };

    let refused = world
        .write(move |tx, context| actions::create(tx, &administrator(), context, wrong.clone()));

    let refusal = refused.expect_err("no such node");
    let Message::Fields(fields) = &refusal.message else { panic!("{:?}", refusal.message) };
    let told: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    for field in ["name", "url", "internal_url", "enabled", "files_max_capacity"] {
        assert!(told.contains(&field), "{field}: {told:?}");
    }
    assert!(told.contains(&"minimum_reverification_interval"), "{told:?}");
    assert!(told.contains(&"selective_sync_type"), "{told:?}");
    assert!(names(&world).is_empty());
}

#[test]
fn there_is_one_primary_and_its_server_is_no_secondary() {
    let world = World::of(Role::Primary);
    let done = world.write(|tx, context| {
        let node = actions::create(tx, &administrator(), context, primary("north"))?;
        let second = actions::create(tx, &administrator(), context, primary("south"));
        assert_eq!(second.expect_err("a second primary").kind, Kind::BadRequest);
        let demotion = NodeChange { primary: Some(false), ..primary("north") };
        let keeper = NodeKeeper::Administrator(administrator());
        let demoted = actions::update(tx, &keeper, context, node.id, demotion);
        let fields = demoted.expect_err("its own secondary").into_fields()?;
        assert_eq!(fields[0].0, "base");
        Ok(())
    });
    done.expect("the transaction succeeds");
    assert_eq!(names(&world), ["north"]);
}

#[test]
fn a_secondary_changes_no_node() {
    let world = World::of(Role::Secondary);
    let there = world.insert(secondary("copy"));
    let done = world.write(move |tx, context| {
        let grant = administrator();
        let keeper = NodeKeeper::Administrator(administrator());
        let refusals = [
            actions::create(tx, &grant, context, primary("south")).err(),
            actions::update(tx, &keeper, context, there.id, primary("south")).err(),
            actions::repair(tx, &grant, context, there.id).err(),
            actions::remove(tx, &grant, context, there.id).err(),
        ];
        for refusal in refusals {
            assert_eq!(refusal.map(|error| error.kind), Some(Kind::Forbidden));
        }
        Ok(())
    });
    done.expect("the transaction succeeds");
    assert_eq!(names(&world), ["copy"]);
}

#[test]
fn repair_makes_a_missing_application_and_removal_takes_it_and_the_cursor_along() {
    let world = World::of(Role::Primary);
    let there = world.insert(secondary("copy"));
    let done = world.write(move |tx, context| {
        let (grant, id) = (administrator(), there.id);
        event_log::open(tx, id)?;
        let repaired = actions::repair(tx, &grant, context, id)?;
        assert!(repaired.oauth_application_id.is_some());
        assert_eq!(actions::repair(tx, &grant, context, id)?, repaired);
        assert_eq!(Applications::names(tx)?, ["Geo node: copy"]);
        actions::remove(tx, &grant, context, id)?;
        assert!(Applications::names(tx)?.is_empty());
        assert_eq!(event_log::cursor(tx, id)?, None);
        Ok(())
    });
    done.expect("the transaction succeeds");
    assert!(names(&world).is_empty());
}

#[test]
fn a_node_is_limited_to_groups_that_exist() {
    let world = World::of(Role::Primary);
    let there = world.insert(secondary("copy"));
    let with = |ids: &[i64]| NodeChange {
        selective_sync_namespace_ids: Some(ids.iter().copied().map(NamespaceId).collect()),
        ..NodeChange::default()
    };
    let done = world.write(move |tx, context| {
        use geo::node::NodeStore as _;
        let keeper = NodeKeeper::Administrator(administrator());
        let unknown = actions::update(tx, &keeper, context, there.id, with(&[1, 7]));
        assert_eq!(unknown.expect_err("no group 7").kind, Kind::NotFound);
        assert!(tx.geo_namespaces(&[there.id])?.is_empty());
        Ok(())
    });
    done.expect("the transaction succeeds");
}

#[test]
fn nobody_reads_a_node_that_is_not_there() {
    let world = World::of(Role::Primary);
    let read = world.write(|tx, _| actions::read(tx, &administrator(), GeoNodeId(7)));
    assert_eq!(read.expect_err("no node").kind, Kind::NotFound);
}
