//! The application settings.

mod setting_params;

use std::sync::Arc;

use entities::server::settings::SettingsEntity;
use forge::performance_bar;
use kernel::access::Administrate;
use org::settings::store::SettingsStore;

use crate::{app::App, error::ApiResult, extract::Call, present::Json, routes};
use setting_params::ChangeSettings;

routes! { "Application settings" at "/application/settings";
    GET "" => show   : Administrate,
    PUT "" => update : Administrate,
}

async fn show(app: App, _: Call<Administrate>) -> ApiResult<Json<SettingsEntity>> {
    shown(&app).await
}

/// The settings that this server acts by. They are written down once, until they are others.
async fn shown(app: &App) -> ApiResult<Json<SettingsEntity>> {
    let settings = app.forge.settings();
    if let Some(known) = app.shown_settings.get(&settings) {
        return Ok(Json(known));
    }
    let current = Arc::clone(&settings);
    let read = app.db.peek(move |tx| {
        let group = performance_bar::allowed_group(tx, &current)?;
        Ok((tx.settings_times()?, group))
    });
    let (times, group) = read.await?;
    let document = forge::settings::document(&app.forge, &settings)?;
    let shown = SettingsEntity::new(document, times, app.limits.into(), group)?;
    // Which group a path leads to may change without the settings.
    if settings.performance_bar_allowed_group_path().is_none() {
        app.shown_settings.keep(settings, shown.clone());
    }
    Ok(Json(shown))
}

async fn update(
    app: App,
    call: Call<Administrate, ChangeSettings>,
) -> ApiResult<Json<SettingsEntity>> {
    let settings = forge::settings::update(&app.forge, call.grant, call.params.0).await?;
    app.rates.follow(&settings);
    shown(&app).await
}
