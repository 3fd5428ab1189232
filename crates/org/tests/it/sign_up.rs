//! Accounts that people make for themselves, and their sessions.

use db::Tx;
use forgeway_org::{
    settings::{Settings, store::SettingsStore as _},
    user::{
        State, User,
        password::PasswordChoice,
        session,
        sign_up::{SignUp, sign_up},
        store::UserStore as _,
    },
};
use kernel::{Result, error::Kind};
use serde_json::{Value, json};
use time::Duration;

use crate::world::test;

fn set(tx: &mut Tx<'_>, values: Value) -> Result<()> {
    let settings: Settings = serde_json::from_value(values).unwrap();
    tx.store_settings(&settings)
}

fn somebody(tx: &mut Tx<'_>, email: &str, agreement: bool) -> Result<User> {
    let wanted = SignUp {
        username: "grace".to_owned(),
        name: "Grace".to_owned(),
        email: email.to_owned(),
        password: PasswordChoice::new("compilers came later".to_owned())?,
        agreement,
    };
    sign_up(tx, &wanted)
}

#[test]
fn sign_up_is_open_to_welcome_people_alone() {
    test(|tx, _| {
        set(tx, json!({ "signup_enabled": false }))?;
        assert_eq!(somebody(tx, "grace@a.test", true).unwrap_err().kind, Kind::Forbidden);
        set(tx, json!({ "domain_allowlist": ["b.test"] }))?;
        assert_eq!(somebody(tx, "grace@a.test", true).unwrap_err().kind, Kind::BadRequest);
        set(tx, json!({ "enforce_terms": true, "terms": "Be kind" }))?;
        assert_eq!(somebody(tx, "grace@a.test", false).unwrap_err().kind, Kind::BadRequest);
        assert_eq!(somebody(tx, "grace@a.test", true)?.state, State::PendingApproval);
        Ok(())
    });
}

#[test]
fn an_account_is_in_use_at_once_where_nobody_approves_it() {
    test(|tx, _| {
        set(tx, json!({ "require_admin_approval_after_user_signup": false }))?;
        let user = somebody(tx, "grace@a.test", false)?;
        assert_eq!((user.state, user.confirmed_at.is_some()), (State::Active, true));
        Ok(())
    });
}

#[test]
fn a_session_counts_for_as_long_as_the_settings_say() {
    test(|tx, world| {
        set(tx, json!({ "session_expire_delay": 10 }))?;
        let secret = session::begin(tx, world.bob.id)?;
        tx.now = tx.now.plus(Duration::minutes(9));
        assert!(session::resume(tx, &secret)?.is_some());
        tx.now = tx.now.plus(Duration::minutes(9));
        assert!(session::resume(tx, &secret)?.is_some(), "it was used in between");
        tx.now = tx.now.plus(Duration::minutes(11));
        assert!(session::resume(tx, &secret)?.is_none());
        Ok(())
    });
}

#[test]
fn a_session_ends_with_the_password_or_when_its_person_ends_it() {
    test(|tx, world| {
        let (first, second) =
            (session::begin(tx, world.bob.id)?, session::begin(tx, world.bob.id)?);
        session::end(tx, &first)?;
        assert!(session::resume(tx, &first)?.is_none() && session::resume(tx, &second)?.is_some());
        tx.save_password(world.bob.id, "another", None)?;
        assert!(session::resume(tx, &second)?.is_none());
        Ok(())
    });
}
