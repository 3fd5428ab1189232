//! Environments as people change them.

use forgeway_deployments::{
    environment::{
        EnvironmentChange, EnvironmentFilter, EnvironmentState, EnvironmentStep, Tier,
        actions::{create, list, remove, step, update},
    },
    policy::{ChangeEnvironments, ReadEnvironments, RemoveEnvironments, StopEnvironments},
};
use kernel::{Ts, error::Kind, page::PageRequest};

use crate::world::{person, test, told};

#[test]
fn a_name_belongs_to_one_environment_and_a_slug_too() {
    test(|tx, world| {
        let first = world.environment(tx, "staging")?;
        let grant = world.may::<ChangeEnvironments>(world.developer)?;
        let taken = create(tx, &grant, "staging".to_owned(), None, None).unwrap_err();
        assert_eq!(told(&taken), "name has already been taken");
        let change =
            EnvironmentChange { name: Some("live".to_owned()), ..EnvironmentChange::default() };
        update(tx, &grant, &world.members, first.id, change)?;

        let refused = create(tx, &grant, "staging".to_owned(), None, None).unwrap_err();

        assert_eq!(told(&refused), "slug has already been taken");
        Ok(())
    });
}

#[test]
fn a_rename_keeps_slug_and_tier() {
    test(|tx, world| {
        let first = world.environment(tx, "staging")?;
        let grant = world.may::<ChangeEnvironments>(world.developer)?;
        let change =
            EnvironmentChange { name: Some("live".to_owned()), ..EnvironmentChange::default() };

        let after = update(tx, &grant, &world.members, first.id, change)?;

        assert_eq!((after.name.as_str(), after.slug.as_str()), ("live", "staging"));
        assert_eq!(after.tier, Tier::Staging);
        Ok(())
    });
}

#[test]
fn a_protected_environment_is_changed_and_removed_by_its_deployers_alone() {
    test(|tx, world| {
        let one = world.stopped_environment(tx, "production")?;
        world.protect(tx, "production", vec![person(world.maintainer)], Vec::new())?;
        let change = world.may::<ChangeEnvironments>(world.developer)?;
        let none = EnvironmentChange::default;
        let refused = update(tx, &change, &world.members, one.id, none()).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        let grant = world.may::<RemoveEnvironments>(world.developer)?;
        let refused = remove(tx, &grant, &world.members, one.id).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);

        let change = world.may::<ChangeEnvironments>(world.maintainer)?;
        update(tx, &change, &world.members, one.id, none())?;
        let grant = world.may::<RemoveEnvironments>(world.maintainer)?;
        remove(tx, &grant, &world.members, one.id)
    });
}

#[test]
fn only_what_was_stopped_is_removed() {
    test(|tx, world| {
        let one = world.environment(tx, "production")?;
        let grant = world.may::<RemoveEnvironments>(world.developer)?;
        let refused = remove(tx, &grant, &world.members, one.id).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        let stopping = step(tx, one, EnvironmentStep::Stop)?;
        assert!(remove(tx, &grant, &world.members, stopping.id).is_err());

        let stopped = step(tx, stopping, EnvironmentStep::StopComplete)?;

        remove(tx, &grant, &world.members, stopped.id)
    });
}

#[test]
fn what_stops_has_no_moment_to_stop_any_more() {
    test(|tx, world| {
        let one = world.environment(tx, "review/a")?;
        let timed = forgeway_deployments::environment::Environment {
            auto_stop_at: Some(Ts(1)),
            auto_delete_at: Some(Ts(2)),
            ..one
        };

        let stopped = step(tx, timed.clone(), EnvironmentStep::StopComplete)?;

        assert_eq!((stopped.state, stopped.auto_stop_at), (EnvironmentState::Stopped, None));
        let back = step(tx, stopped, EnvironmentStep::Start)?;
        assert_eq!((back.state, back.auto_delete_at), (EnvironmentState::Available, None));
        assert_eq!(step(tx, timed.clone(), EnvironmentStep::Start)?, timed);
        Ok(())
    });
}

#[test]
fn reporters_read_and_may_only_ask_to_stop() {
    test(|tx, world| {
        world.environment(tx, "production")?;
        let grant = world.may::<ReadEnvironments>(world.reporter)?;
        let page = list(tx, &grant, &EnvironmentFilter::default(), PageRequest::default())?;
        assert_eq!(page.items.len(), 1);
        assert!(world.may::<ChangeEnvironments>(world.reporter).is_err());
        world.may::<StopEnvironments>(world.reporter).map(drop)
    });
}

#[test]
fn a_part_of_a_name_is_looked_for_from_three_letters_on() {
    test(|tx, world| {
        world.environment(tx, "Production")?;
        let grant = world.may::<ReadEnvironments>(world.reporter)?;
        let with = |search: &str| EnvironmentFilter {
            search: Some(search.to_owned()),
            ..EnvironmentFilter::default()
        };
        let refused = list(tx, &grant, &with("pr"), PageRequest::default()).unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        assert_eq!(list(tx, &grant, &with("DUCT"), PageRequest::default())?.items.len(), 1);
        assert!(list(tx, &grant, &with("%_%"), PageRequest::default())?.items.is_empty());
        Ok(())
    });
}
