//! The appearance of the installation.

use admin::appearance::{self, Appearance, AppearanceStore as _, Picture};
use entities::server::appearance::AppearanceEntity;
use forge::files::{
    Upload,
    avatars::{self, Owner, StagedAvatar, find, stage_change, tidy},
};
use kernel::{
    Error,
    access::{Administrate, Anyone},
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Change},
    param_enums, params,
    present::{Custom, Json},
    rest::shared::uploaded_files::file_response,
    routes,
};

routes! { "Appearance" at "";
    GET "/application/appearance" => show : Administrate,
    PUT "/application/appearance" => update : Administrate,
    GET "//uploads/-/system/appearance/{picture}/{appearance_id}/{filename}" => picture : Anyone,
}

param_enums! { Picture }

async fn show(app: App, _: Call<Administrate>) -> ApiResult<Json<AppearanceEntity>> {
    let appearance = app.db.peek(|tx| tx.appearance()).await?;
    Ok(Json(AppearanceEntity::new(&app.urls, appearance)))
}

params! {
    struct ChangeAppearance {
        title: Option<String>,
        description: Option<String>,
        pwa_name: Option<String>,
        pwa_short_name: Option<String>,
        pwa_description: Option<String>,
        new_project_guidelines: Option<String>,
        profile_image_guidelines: Option<String>,
        /// Message at the top of each page and e-mail.
        header_message: Option<String>,
        /// Message at the bottom of each page and e-mail.
        footer_message: Option<String>,
        message_background_color: Option<String>,
        message_font_color: Option<String>,
        /// Whether emails contain the header and footer messages.
        email_header_and_footer_enabled: Option<bool>,
        logo: Change<Upload>,
        header_logo: Change<Upload>,
        favicon: Change<Upload>,
        pwa_icon: Change<Upload>,
    }
}

impl ChangeAppearance {
    fn apply(&self, appearance: &mut Appearance) {
        for (place, given) in [
            (&mut appearance.title, &self.title),
            (&mut appearance.description, &self.description),
            (&mut appearance.pwa_name, &self.pwa_name),
            (&mut appearance.pwa_short_name, &self.pwa_short_name),
            (&mut appearance.pwa_description, &self.pwa_description),
            (&mut appearance.new_project_guidelines, &self.new_project_guidelines),
            (&mut appearance.profile_image_guidelines, &self.profile_image_guidelines),
            (&mut appearance.header_message, &self.header_message),
            (&mut appearance.footer_message, &self.footer_message),
            (&mut appearance.message_background_color, &self.message_background_color),
            (&mut appearance.message_font_color, &self.message_font_color),
        ] {
            if let Some(text) = given {
                place.clone_from(text);
            }
        }
        if let Some(enabled) = self.email_header_and_footer_enabled {
            appearance.email_header_and_footer_enabled = enabled;
        }
    }

    fn pictures(&self) -> [(Picture, Change<Upload>); 4] {
        [
            (Picture::Logo, self.logo.clone()),
            (Picture::HeaderLogo, self.header_logo.clone()),
            (Picture::Favicon, self.favicon.clone()),
            (Picture::PwaIcon, self.pwa_icon.clone()),
        ]
    }
}

async fn update(
    app: App,
    call: Call<Administrate, ChangeAppearance>,
) -> ApiResult<Json<AppearanceEntity>> {
    let (grant, given) = (call.grant, call.params);
    let mut staged: Vec<(Picture, Option<StagedAvatar>)> = Vec::new();
    for (picture, change) in given.pictures() {
        if let Change::Set(file) = &change
            && let Some(text) = avatars::fault(file)
        {
            return Err(Error::invalid(&picture.to_string(), text).into());
        }
        let change = stage_change(&app, change.into_update()).await?;
        staged.extend(change.map(|file| (picture, file)));
    }
    let changed: Vec<Picture> = staged.iter().map(|(picture, _)| *picture).collect();
    let kept = app.db.write(move |tx| {
        let kept = appearance::update(tx, &grant, |appearance| {
            given.apply(appearance);
            for (picture, file) in &staged {
                appearance.set_picture(*picture, file.as_ref().map(|file| file.name.clone()));
            }
        })?;
        for (picture, file) in staged.clone() {
            file.map_or(Ok(()), |file| file.commit(tx, Owner::Appearance(picture)))?;
        }
        Ok(kept)
    });
    let kept = kept.await?;
    for picture in changed {
        let file = kept.picture(picture).map(str::to_owned);
        tidy(&app, Owner::Appearance(picture), file).await?;
    }
    Ok(Json(AppearanceEntity::new(&app.urls, kept)))
}

params! {
    struct OnePicture {
        picture: Picture,
        appearance_id: i64,
        filename: String,
    }
}

async fn picture(app: App, call: Call<Anyone, OnePicture>) -> ApiResult<Custom> {
    let OnePicture { picture, appearance_id, filename } = call.params;
    let appearance = app.db.peek(|tx| tx.appearance()).await?;
    let named = appearance.picture(picture).filter(|name| *name == filename && appearance_id == 1);
    let name = named.ok_or_else(Error::missing)?;
    file_response(&app.avatars, &find(Owner::Appearance(picture), name)?, name).await
}
