//! Preferences and counts of the current user.

use entities::org::person::{CountsEntity, PreferencesEntity};
use forge::ports::{directory::Directory, review::OrgHierarchy};
use kernel::access::SignedIn;
use org::preference::{self, Change};
use review::todo::open_counts::open_counts;

use crate::{app::App, error::ApiResult, extract::Call, params, present::Json, routes};

routes! { "User preferences" at "", also [ReadUser];
    GET "/user/preferences" => show   : SignedIn,
    PUT "/user/preferences" => change : SignedIn,
    GET "/user_counts"      => counts : SignedIn,
}

params! {
    struct ChangePreferences {
        view_diffs_file_by_file: Option<bool>,
        show_whitespace_in_diffs: Option<bool>,
    } with at_least_one("view_diffs_file_by_file", "show_whitespace_in_diffs");
}

async fn show(app: App, call: Call<SignedIn>) -> ApiResult<Json<PreferencesEntity>> {
    let user = call.grant.user()?;
    let preferences = match app.write_refusal() {
        None => app.db.write(move |tx| preference::preferences(tx, user)).await?,
        Some(_) => app.db.read(move |tx| preference::read(tx, user)).await?,
    };
    Ok(Json(preferences.into()))
}

async fn change(
    app: App,
    call: Call<SignedIn, ChangePreferences>,
) -> ApiResult<Json<PreferencesEntity>> {
    let user = call.grant.user()?;
    let change = Change {
        view_diffs_file_by_file: call.params.view_diffs_file_by_file,
        show_whitespace_in_diffs: call.params.show_whitespace_in_diffs,
        issues_sort: None,
    };
    Ok(Json(app.db.write(move |tx| preference::change(tx, user, change)).await?.into()))
}

async fn counts(app: App, call: Call<SignedIn>) -> ApiResult<Json<CountsEntity>> {
    let (actor, directory) = (call.grant.actor(), Directory::new(&app.urls));
    Ok(Json(app.db.read(move |tx| open_counts(tx, &directory, &OrgHierarchy, actor)).await?.into()))
}
