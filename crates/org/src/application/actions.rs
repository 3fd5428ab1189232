//! Making, listing and taking away applications.

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result, Ts,
    access::{Administrate, SignedIn},
    ids::{ApplicationId, UserId},
    page::{Page, PageRequest},
};

use super::{Application, ApplicationAction, ApplicationChange, ApplicationStore as _, redirect};
use crate::{
    settings::store::SettingsStore as _,
    token::{Scopes, Secret},
};

const LONGEST_NAME: usize = 255;
const LONGEST_REDIRECT: usize = 2_048;
const LONGEST_SCOPES: usize = 1_024;

/// An application as somebody wants it.
#[derive(Clone, Debug)]
pub struct NewApplication {
    pub name: String,
    /// One or more addresses, with white space between.
    pub redirect_uri: String,
    /// Words with blanks between.
    pub scopes: String,
    pub trusted: bool,
    pub confidential: bool,
}

pub fn list(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    page: PageRequest,
) -> Result<Page<Application>> {
    tx.applications(None, page)
}

/// Makes one; its secret is shown this once.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    new: &NewApplication,
) -> Result<(Application, Secret)> {
    register(tx, grant.actor().id, new)
}

/// Applications that somebody may have.
const MOST_OWN: i64 = 100;
const CLOSED: &str = "Applications of people are disabled";

/// The applications that somebody made.
pub fn list_own(
    tx: &mut Tx<'_>,
    grant: &Grant<SignedIn>,
    page: PageRequest,
) -> Result<Page<Application>> {
    tx.applications(Some(grant.actor().user()?), page)
}

/// Makes an application of somebody's own, where the installation lets people have some.
///
/// # Errors
/// `Forbidden` where it does not; `BadRequest` for one too many, and for what cannot be an application.
pub fn create_own(
    tx: &mut Tx<'_>,
    grant: &Grant<SignedIn>,
    new: &NewApplication,
) -> Result<(Application, Secret)> {
    let owner = grant.actor().user()?;
    if !tx.settings()?.user_oauth_applications() {
        return Err(Error::forbidden().because(CLOSED));
    }
    if tx.count_applications(owner)? >= MOST_OWN {
        return Err(Error::invalid("base", format!("cannot be more than {MOST_OWN} applications")));
    }
    make(tx, Some(owner), Some(owner), new)
}

/// Takes away an application of somebody's own.
pub fn remove_own(tx: &mut Tx<'_>, grant: &Grant<SignedIn>, id: ApplicationId) -> Result<()> {
    let owner = grant.actor().user()?;
    let found = tx.find_application(id)?.filter(|found| found.owner_id == Some(owner));
    unregister(tx, Some(owner), &found.ok_or_else(Error::missing)?)
}

/// As [`create`], for the server's own needs.
pub fn register(
    tx: &mut Tx<'_>,
    by: Option<UserId>,
    new: &NewApplication,
) -> Result<(Application, Secret)> {
    make(tx, by, None, new)
}

fn make(
    tx: &mut Tx<'_>,
    by: Option<UserId>,
    owner_id: Option<UserId>,
    new: &NewApplication,
) -> Result<(Application, Secret)> {
    let scopes = check(new)?;
    let secret = Secret::generate_hex();
    let row = Application {
        id: ApplicationId(0),
        uid: Secret::generate_hex().reveal().to_owned(),
        name: new.name.trim().to_owned(),
        secret_digest: secret.digest(),
        redirect_uri: new.redirect_uri.trim().to_owned(),
        scope_words: scopes.to_string(),
        trusted: new.trusted,
        confidential: new.confidential,
        created_at: tx.now,
        updated_at: tx.now,
        owner_id,
    };
    let made = tx.insert_application(&row)?;
    record(tx, by, &made, ApplicationChange::Creation);
    Ok((made, secret))
}

fn check(new: &NewApplication) -> Result<Scopes> {
    let mut faults = Faults::default();
    if new.name.trim().is_empty() {
        faults.add("name", "can't be blank");
    }
    faults.at_most("name", Some(&new.name), LONGEST_NAME);
    if new.redirect_uri.trim().is_empty() {
        faults.add("redirect_uri", "can't be blank");
    }
    faults.at_most("redirect_uri", Some(&new.redirect_uri), LONGEST_REDIRECT);
    if let Some(text) = new.redirect_uri.split_whitespace().find_map(redirect::fault) {
        faults.add("redirect_uri", text);
    }
    faults.at_most("scopes", Some(&new.scopes), LONGEST_SCOPES);
    let scopes = Scopes::read(&new.scopes);
    match &scopes {
        Some(scopes) if scopes.0.is_empty() => faults.add("scopes", "can't be blank"),
        Some(_) => {}
        None => faults.add("scopes", "doesn't match configured on the server."),
    }
    faults.into_result()?;
    scopes.ok_or_else(Error::bad_request)
}

/// Takes one away: its codes and tokens are gone at once.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    id: ApplicationId,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let found = tx.find_application(id)?.ok_or_else(Error::missing)?;
    found.updated_at.ensure_unchanged_since(unmodified_since)?;
    unregister(tx, grant.actor().id, &found)
}

/// As [`remove`], for the server's own needs.
pub fn unregister(tx: &mut Tx<'_>, by: Option<UserId>, application: &Application) -> Result<()> {
    tx.delete_application(application.id)?;
    record(tx, by, application, ApplicationChange::Removal);
    Ok(())
}

pub(super) fn record(
    tx: &mut Tx<'_>,
    by: Option<UserId>,
    application: &Application,
    change: ApplicationChange,
) {
    let (application_id, name) = (application.id, application.name.clone());
    tx.mention(ApplicationAction { application_id, name, by, change });
}
