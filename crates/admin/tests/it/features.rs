//! Feature flags of the installation.

use admin::feature::{
    FeatureName, State,
    actions::{Setting, Targets, list, remove, set},
};

use crate::world::test;

fn of_actors(all: &[&str]) -> Targets {
    let actors = all.iter().map(|one| (*one).to_owned()).collect();
    Targets { actors, ..Targets::default() }
}

#[test]
fn a_feature_is_on_for_those_that_were_named_until_it_is_on_for_all() {
    test(|tx, world| {
        let (grant, name) = (world.administers(), FeatureName::parse("dark_mode").unwrap());
        let some = set(tx, &grant, &name, Setting::On, &of_actors(&["User:1", "User:2"]))?;
        assert_eq!(some.state(), State::Conditional);
        let one = set(tx, &grant, &name, Setting::Off, &of_actors(&["User:1"]))?;
        assert_eq!(one.actors, ["User:2"]);
        let all = set(tx, &grant, &name, Setting::On, &Targets::default())?;
        assert_eq!((all.state(), all.actors.len()), (State::On, 0));
        remove(tx, &grant, &name)?;
        assert!(list(tx, &grant)?.is_empty());
        Ok(())
    });
}
