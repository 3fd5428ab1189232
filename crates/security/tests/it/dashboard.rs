//! What people watch.

use kernel::error::Kind;
use security::{dashboard, policy::ReadVulnerabilities};

use crate::world::test;

#[test]
fn a_project_is_watched_once_by_each() {
    test(|tx, world| {
        let grant = world.may::<ReadVulnerabilities>(world.developer)?;
        dashboard::add(tx, &grant)?;
        let again = dashboard::add(tx, &grant).unwrap_err();
        let text = "The project has already been added to your dashboard.";
        assert_eq!((again.kind, again.to_string().as_str()), (Kind::Conflict, text));
        dashboard::add(tx, &world.may::<ReadVulnerabilities>(world.maintainer)?)?;
        assert_eq!(dashboard::projects(tx, world.developer)?, [world.project]);
        assert!(world.may::<ReadVulnerabilities>(world.reporter).is_err());
        Ok(())
    });
}

#[test]
fn what_is_not_watched_any_more_is_gone() {
    test(|tx, world| {
        for project in [world.other, world.project] {
            let grant = world.may_in::<ReadVulnerabilities>(project, world.developer)?;
            dashboard::add(tx, &grant)?;
        }
        assert_eq!(dashboard::projects(tx, world.developer)?, [world.project, world.other]);
        assert!(dashboard::remove(tx, world.developer, world.project)?);
        assert!(!dashboard::remove(tx, world.developer, world.project)?);
        assert_eq!(dashboard::projects(tx, world.developer)?, [world.other]);
        Ok(())
    });
}
