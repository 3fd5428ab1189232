//! Jobs that wait for others by name.

use forgeway_ci::Status;

use crate::world::{fail, shown, succeed, test};

const HEAD: &str = "stages: [build, test]\n";

#[test]
fn a_job_begins_when_what_it_needs_has_ended() {
    test(|tx, world| {
        let text = format!(
            "{HEAD}fast: {{stage: build, script: x}}\nslow: {{stage: build, script: x}}\nunit: {{stage: test, script: x, needs: [fast]}}\nall: {{stage: test, script: x}}\n"
        );
        let id = world.pipeline(tx, &text)?;

        succeed(tx, id, "fast")?;

        assert_eq!(shown(tx, id)?, "fast=success slow=pending unit=pending all=created");
        Ok(())
    });
}

#[test]
fn a_job_that_needs_nothing_begins_at_once() {
    test(|tx, world| {
        let text = format!(
            "{HEAD}make: {{stage: build, script: x}}\nlint: {{stage: test, script: x, needs: []}}\n"
        );
        let id = world.pipeline(tx, &text)?;

        assert_eq!(shown(tx, id)?, "make=pending lint=pending");
        Ok(())
    });
}

#[test]
fn who_needs_what_failed_is_skipped_unless_it_waits_for_failures() {
    test(|tx, world| {
        let text = format!(
            "{HEAD}make: {{stage: build, script: x}}\nunit: {{stage: test, script: x, needs: [make]}}\nmail: {{stage: test, script: x, needs: [make], when: on_failure}}\nclean: {{stage: test, script: x, needs: [make], when: always}}\n"
        );
        let id = world.pipeline(tx, &text)?;

        fail(tx, id, "make")?;

        assert_eq!(shown(tx, id)?, "make=failed unit=skipped mail=pending clean=pending");
        Ok(())
    });
}

#[test]
fn who_needs_an_optional_job_that_waits_for_a_person_is_skipped() {
    test(|tx, world| {
        let text = format!(
            "{HEAD}ask: {{stage: build, script: x, when: manual}}\nunit: {{stage: test, script: x, needs: [ask]}}\n"
        );
        let id = world.pipeline(tx, &text)?;

        assert_eq!(shown(tx, id)?, "ask=manual unit=skipped");
        assert_eq!(world.status(tx, id)?, Status::Skipped);
        Ok(())
    });
}

#[test]
fn a_failure_that_is_allowed_stops_nobody() {
    test(|tx, world| {
        let text = format!(
            "{HEAD}make: {{stage: build, script: x, allow_failure: true}}\nunit: {{stage: test, script: x}}\n"
        );
        let id = world.pipeline(tx, &text)?;

        fail(tx, id, "make")?;
        succeed(tx, id, "unit")?;

        assert_eq!(world.status(tx, id)?, Status::Success);
        Ok(())
    });
}
