//! Jobs of which one runs at a time.

use forgeway_ci::{
    pipeline::control,
    policy::{ChangeResourceGroups, DeletePipelines, ReadResourceGroups},
    resource_group::{ProcessMode, ResourceGroupStore as _, actions},
};
use kernel::page::PageRequest;

use crate::world::{job, shown, succeed, test};

const SHIP: &str = "ship: {script: x, resource_group: prod}";

#[test]
fn one_job_of_a_group_runs_at_a_time() {
    test(|tx, world| {
        let (first, second) = (world.pipeline(tx, SHIP)?, world.pipeline(tx, SHIP)?);
        assert_eq!(shown(tx, first)?, "ship=pending");
        assert_eq!(shown(tx, second)?, "ship=waiting_for_resource");

        succeed(tx, first, "ship")?;

        assert_eq!(shown(tx, second)?, "ship=pending");
        Ok(())
    });
}

#[test]
fn a_group_may_let_the_newest_go_first() {
    test(|tx, world| {
        let all = [(); 3].map(|()| world.pipeline(tx, SHIP));
        let [first, second, third] = all.map(|made| made.expect("a pipeline"));
        let grant = world.may::<ChangeResourceGroups>(world.developer)?;
        actions::set_mode(tx, &grant, "prod", Some(ProcessMode::NewestFirst))?;

        succeed(tx, first, "ship")?;

        assert_eq!(shown(tx, second)?, "ship=waiting_for_resource");
        assert_eq!(shown(tx, third)?, "ship=pending");
        Ok(())
    });
}

#[test]
fn a_group_may_let_the_newest_of_those_go_first_that_wait_already() {
    test(|tx, world| {
        let all = [(); 3].map(|()| world.pipeline(tx, SHIP));
        let [first, second, third] = all.map(|made| made.expect("a pipeline"));
        let text = "make: {stage: build, script: x}\n\
                    ship: {stage: deploy, script: x, resource_group: prod}";
        let newest = world.pipeline(tx, text)?;
        let grant = world.may::<ChangeResourceGroups>(world.developer)?;
        actions::set_mode(tx, &grant, "prod", Some(ProcessMode::NewestReadyFirst))?;
        let reader = world.may::<ReadResourceGroups>(world.developer)?;
        let waiting = actions::upcoming(tx, &reader, "prod", PageRequest::default())?;
        let ids: Vec<_> = waiting.items.into_iter().map(|job| job.pipeline_id).collect();
        assert_eq!(ids, [third, second]);

        succeed(tx, first, "ship")?;

        assert_eq!(shown(tx, second)?, "ship=waiting_for_resource");
        assert_eq!(shown(tx, third)?, "ship=pending");
        assert_eq!(shown(tx, newest)?, "make=pending ship=created");
        Ok(())
    });
}

#[test]
fn who_waits_for_a_group_is_listed() {
    test(|tx, world| {
        world.pipeline(tx, SHIP)?;
        let second = world.pipeline(tx, SHIP)?;
        let grant = world.may::<ReadResourceGroups>(world.developer)?;

        let waiting = actions::upcoming(tx, &grant, "prod", PageRequest::default())?;

        let ids: Vec<_> = waiting.items.into_iter().map(|job| job.id).collect();
        assert_eq!(ids, [job(tx, second, "ship")?.id]);
        assert!(actions::read(tx, &grant, "other").is_err());
        Ok(())
    });
}

#[test]
fn a_group_whose_holder_has_ended_is_handed_on() {
    test(|tx, world| {
        let first = world.pipeline(tx, SHIP)?;
        succeed(tx, first, "ship")?;
        let ended = job(tx, first, "ship")?;
        tx.set_holder(ended.resource_group_id.expect("a group"), Some(ended.id))?;
        let second = world.pipeline(tx, SHIP)?;
        assert_eq!(shown(tx, second)?, "ship=waiting_for_resource");

        assert!(!actions::free_stuck(tx, 10)?);

        assert_eq!(shown(tx, second)?, "ship=pending");
        Ok(())
    });
}

#[test]
fn a_pipeline_that_is_taken_away_gives_its_resource_back() {
    test(|tx, world| {
        let (first, second) = (world.pipeline(tx, SHIP)?, world.pipeline(tx, SHIP)?);
        let grant = world.may::<DeletePipelines>(world.owner)?;

        control::delete(tx, &grant, first, None)?;

        assert_eq!(shown(tx, second)?, "ship=pending");
        Ok(())
    });
}
