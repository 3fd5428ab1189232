//! What the installation is set to.

mod given;

use forge::performance_bar;
use kernel::access::Administrate;
use org::settings::store::SettingsStore;

use crate::{
    app::App, entities::server::settings::SettingsEntity, error::ApiResult, extract::Call,
    present::Json, routes,
};
use given::ChangeSettings;

routes! { "Application settings" at "/application/settings";
    GET "" => show   : Administrate,
    PUT "" => update : Administrate,
}

async fn show(app: App, _: Call<Administrate>) -> ApiResult<Json<SettingsEntity>> {
    shown(&app).await
}

async fn shown(app: &App) -> ApiResult<Json<SettingsEntity>> {
    let read = app.db.peek(|tx| {
        let settings = tx.settings()?;
        let group = performance_bar::allowed_group(tx, &settings)?;
        Ok((settings, tx.settings_times()?, group))
    });
    let (settings, times, group) = read.await?;
    let document = forge::settings::document(&app.forge, &settings)?;
    Ok(Json(SettingsEntity::new(document, times, app.limits).with_group(group)))
}

async fn update(
    app: App,
    call: Call<Administrate, ChangeSettings>,
) -> ApiResult<Json<SettingsEntity>> {
    let settings = forge::settings::update(&app.forge, call.grant, call.params.0).await?;
    app.rates.follow(&settings);
    shown(&app).await
}
