//! Tokens of runners, and the programs that share one.

use db::Tx;
use forgeway_runners::{
    manager::{Contact, ManagerStore as _},
    ports::{Endless, TokenLifetimes},
    runner::{
        Attributes, Owner, RegistrationStore as _, RunnerStatus, RunnerStore as _, RunnerToken,
        RunnerType, actions,
        register::{authenticate, create, renew_token},
    },
};
use kernel::{Result, ids::ProjectId, page::PageRequest};
use time::Duration;

use crate::world::{is_forbidden, test};

#[test]
fn a_runner_is_known_by_its_token_alone() {
    test(|tx, world| {
        let (made, token) = world.runner(tx, Owner::Instance, Attributes::default())?;

        assert_eq!(authenticate(tx, &token)?.id, made.id);
        assert!(is_forbidden(&authenticate(tx, &RunnerToken::created())));
        assert!(is_forbidden(&authenticate(tx, &RunnerToken::given(""))));
        assert!(is_forbidden(&authenticate(tx, &RunnerToken::given("x".repeat(2_000)))));
        Ok(())
    });
}

#[test]
fn the_row_of_a_runner_does_not_hold_its_token() {
    test(|tx, world| {
        let (made, token) = world.runner(tx, Owner::Instance, Attributes::default())?;

        let row = format!("{:?}", tx.find_runner(made.id)?);

        assert!(!row.contains(token.reveal()));
        assert!(row.contains(&token.short()));
        Ok(())
    });
}

#[test]
fn a_renewed_token_ends_the_old_one() {
    test(|tx, world| {
        let (made, old) = world.runner(tx, Owner::Project(world.project), Attributes::default())?;
        let stranger = world.may(world.stranger)?;
        assert!(is_forbidden(&actions::reset_token(tx, &stranger, world, &Endless, made.id)));
        let owner = world.may(world.owner)?;

        let new = actions::reset_token(tx, &owner, world, &Endless, made.id)?.token;

        assert!(is_forbidden(&authenticate(tx, &old)));
        assert_eq!(authenticate(tx, &new)?.id, made.id);
        assert!(new.reveal().starts_with(RunnerToken::PREFIX), "a person made the runner");
        renew_token(tx, &made, &Endless)?;
        assert!(is_forbidden(&authenticate(tx, &new)));
        Ok(())
    });
}

/// Tokens of project runners, which are valid for an hour.
struct ProjectHours;

impl TokenLifetimes for ProjectHours {
    fn of_runner(
        &self,
        _: &mut Tx<'_>,
        runner_type: RunnerType,
        projects: &[ProjectId],
    ) -> Result<Option<Duration>> {
        let is_of_project = runner_type == RunnerType::Project && projects.len() == 1;
        Ok(is_of_project.then_some(Duration::HOUR))
    }
}

#[test]
fn a_token_that_has_expired_is_nobodys_until_it_is_renewed() {
    test(|tx, world| {
        let (of_project, token) = (Owner::Project(world.project), RunnerToken::created());
        let attributes = Attributes::default;
        let made = create(tx, of_project, None, attributes(), &token, &ProjectHours)?;
        let endless = RunnerToken::created();
        create(tx, Owner::Instance, None, attributes(), &endless, &ProjectHours)?;
        assert_eq!(authenticate(tx, &token)?.token_expires_at, Some(tx.now.plus(Duration::HOUR)));

        tx.now = tx.now.plus(Duration::HOUR);

        assert!(is_forbidden(&authenticate(tx, &token)) && authenticate(tx, &endless).is_ok());
        let new = renew_token(tx, &made, &ProjectHours)?;
        assert_eq!(new.expires_at, Some(tx.now.plus(Duration::HOUR)));
        assert_eq!(authenticate(tx, &new.token)?.id, made.id);
        Ok(())
    });
}

#[test]
fn programs_that_share_a_token_are_told_apart() {
    test(|tx, world| {
        let (made, _) = world.runner(tx, Owner::Instance, Attributes::default())?;
        let contact = |system: Option<&str>, version: &str| Contact {
            system_id: system.map(str::to_owned),
            version: Some(version.to_owned()),
            ..Contact::default()
        };
        for told in [contact(Some("a"), "1"), contact(Some("b"), "1"), contact(Some("a"), "2")] {
            tx.record_contact(made.id, &told)?;
        }
        tx.record_contact(made.id, &contact(None, "0"))?;

        let page = tx.managers(made.id, PageRequest::default())?;

        let shown: Vec<_> =
            page.items.iter().map(|one| (&*one.system_id, one.version.as_deref())).collect();
        assert_eq!(shown, [("<legacy>", Some("0")), ("b", Some("1")), ("a", Some("2"))]);
        let runner = tx.find_runner(made.id)?.expect("a runner");
        assert_eq!(runner.status(tx.now), RunnerStatus::Online);
        assert!(tx.delete_manager(made.id, "a")? && !tx.delete_manager(made.id, "a")?);
        Ok(())
    });
}

#[test]
fn the_installation_has_one_registration_token() {
    test(|tx, _| {
        let (old, new) = (RunnerToken::registered().digest(), RunnerToken::registered().digest());
        assert!(!tx.is_instance_registration(&old)?);
        tx.set_instance_registration(&old)?;
        assert!(tx.is_instance_registration(&old)?);

        tx.set_instance_registration(&new)?;

        assert!(!tx.is_instance_registration(&old)? && tx.is_instance_registration(&new)?);
        Ok(())
    });
}
