//! How webhooks fare, transition by transition, as rows have it.

use admin::hook::{
    AlertStatus::{Disabled, Executable, TemporarilyDisabled},
    Health, Hook, HookStore as _, Outcome,
    actions::{HookChange, create, update, wake},
};
use db::Tx;
use kernel::Result;
use time::Duration;

use crate::world::{FakeRule, World, test, to};

fn hook(tx: &mut Tx<'_>, world: &World) -> Result<Hook> {
    world.hook(tx, to("https://a.example.com"))
}

/// What a webhook is after some deliveries, one right after the other.
fn after(tx: &mut Tx<'_>, hook: &Hook, outcomes: &[Outcome]) -> Result<Hook> {
    for outcome in outcomes {
        let before = tx.hooks_with(&[hook.id])?.remove(0).health();
        let now = tx.now;
        assert!(tx.keep_health(hook.id, before, before.after(*outcome, now))?);
    }
    Ok(tx.hooks_with(&[hook.id])?.remove(0))
}

#[test]
fn receivers_that_refuse_four_times_are_left_alone() {
    test(|tx, world| {
        let hook = hook(tx, world)?;
        let thrice = after(tx, &hook, &[Outcome::Refusal; 3])?;
        assert_eq!(thrice.alert_status(tx.now), Executable);
        let left = after(tx, &hook, &[Outcome::Refusal])?;
        assert_eq!((left.alert_status(tx.now), left.disabled_until), (Disabled, None));
        Ok(())
    });
}

#[test]
fn a_success_forgets_refusals_and_pauses() {
    test(|tx, world| {
        let hook = hook(tx, world)?;
        let fine = after(tx, &hook, &[Outcome::Refusal, Outcome::Failure, Outcome::Success])?;
        assert_eq!(fine.health(), Health::default());
        Ok(())
    });
}

#[test]
fn a_failure_makes_a_pause_after_which_the_webhook_is_told_again() {
    test(|tx, world| {
        let hook = hook(tx, world)?;
        let paused = after(tx, &hook, &[Outcome::Failure])?;
        let end = tx.now.plus(Duration::minutes(10));
        assert_eq!(
            (paused.alert_status(tx.now), paused.disabled_until),
            (TemporarilyDisabled, Some(end))
        );
        assert_eq!(paused.alert_status(end), Executable);
        Ok(())
    });
}

#[test]
fn the_next_pause_is_twice_as_long() {
    test(|tx, world| {
        let hook = hook(tx, world)?;
        let paused = after(tx, &hook, &[Outcome::Failure])?;
        let end = paused.disabled_until.unwrap();
        let again = paused.health().after(Outcome::Failure, end);
        assert_eq!(again.disabled_until, Some(end.plus(Duration::minutes(20))));
        Ok(())
    });
}

#[test]
fn refusals_during_a_pause_count() {
    test(|tx, world| {
        let hook = hook(tx, world)?;
        let mut outcomes = vec![Outcome::Failure];
        outcomes.extend([Outcome::Refusal; 4]);
        assert_eq!(after(tx, &hook, &outcomes)?.alert_status(tx.now), Disabled);
        Ok(())
    });
}

#[test]
fn editing_and_testing_a_webhook_make_it_executable() {
    test(|tx, world| {
        let hook = hook(tx, world)?;
        for edited in [true, false] {
            let left = after(tx, &hook, &[Outcome::Refusal; 4])?;
            assert_eq!(left.alert_status(tx.now), Disabled);
            match edited {
                true => {
                    let same = HookChange::default();
                    update(tx, &world.hooks(), (&world.vault, &FakeRule), hook.id, same)
                        .map(drop)?;
                }
                false => drop(wake(tx, &world.hooks(), &world.vault, hook.id)?),
            }
            assert_eq!(after(tx, &hook, &[])?.health(), Health::default(), "{edited}");
        }
        Ok(())
    });
}

#[test]
fn system_hooks_are_never_left_alone() {
    test(|tx, world| {
        let rule = (&world.vault, &FakeRule);
        let hook = create(tx, &world.administers(), rule, to("https://a.example.com"))?;
        for outcomes in [[Outcome::Refusal; 4], [Outcome::Failure; 4]] {
            assert_eq!(after(tx, &hook, &outcomes)?.alert_status(tx.now), Executable);
        }
        Ok(())
    });
}

#[test]
fn what_another_server_noted_meanwhile_stays() {
    test(|tx, world| {
        let hook = hook(tx, world)?;
        let (seen, now) = (hook.health(), tx.now);
        assert!(tx.keep_health(hook.id, seen, seen.after(Outcome::Refusal, now))?);
        assert!(!tx.keep_health(hook.id, seen, seen.after(Outcome::Refusal, now))?);
        assert_eq!(after(tx, &hook, &[])?.failures, 1);
        Ok(())
    });
}
