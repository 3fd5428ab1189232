//! The files of metric images, which lie among the uploads of their projects.

use kernel::{
    Actor, Error, Grant, Result, Ts,
    error::Kind,
    ids::{MetricImageId, ProjectId},
};
use org::{
    access::{IdOrPath, locate_project},
    project::statistics::StatisticsStore as _,
};
use security::{
    metric_image::{
        ImageDetails, MetricImage, MetricImageStore as _,
        actions::{self, ImageFile},
    },
    policy::{ChangeAlerts, ReadMetricImages},
};

use crate::{
    Forge,
    files::{Upload, attachments, avatars::is_picture_file},
};

const NO_PICTURE: &str = "does not have a supported extension. Only png, jpg, jpeg, gif, bmp, tiff, ico, and webp are \
                          supported";

/// Adds a picture to an alert.
///
/// # Errors
/// As [`actions::ensure_wanted`]; `BadRequest` for a file that is no picture.
pub async fn add(
    forge: &Forge,
    grant: Grant<ChangeAlerts>,
    alert_iid: i64,
    upload: Upload,
    details: ImageDetails,
) -> Result<MetricImage> {
    let (asked, size, told) = (grant.clone(), upload.size, details.clone());
    let wanted =
        forge.db.read(move |tx| actions::ensure_wanted(tx, &asked, alert_iid, size, &told)).await;
    wanted?;
    if !is_picture_file(&upload) {
        return Err(Error::invalid("file", NO_PICTURE));
    }
    let (project, bytes) = (grant.project(), i64::try_from(size).unwrap_or(i64::MAX));
    // The file comes first: a row that is read names one that is there.
    let kept = attachments::keep(forge, project, upload).await?;
    let file = ImageFile { secret: kept.secret.clone(), name: kept.name.clone(), bytes };
    let added = forge.db.write(move |tx| {
        tx.record_upload(project, bytes)?;
        actions::add(tx, &grant, alert_iid, file, details)
    });
    let added = added.await;
    if added.is_err() {
        forge.uploads.remove(&attachments::location(&kept.secret, project, &kept.name)).await?;
    }
    added
}

fn location(project: ProjectId, image: &MetricImage) -> String {
    attachments::location(&image.secret, project, &image.filename)
}

/// Takes a picture away, unless it changed after `unmodified_since`.
///
/// # Errors
/// As [`actions::remove`].
pub async fn remove(
    forge: &Forge,
    grant: Grant<ChangeAlerts>,
    alert_iid: i64,
    id: MetricImageId,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let project = grant.project();
    let removed = forge.db.write(move |tx| {
        let image = actions::remove(tx, &grant, alert_iid, id, unmodified_since)?;
        tx.record_upload(project, -image.bytes)?;
        Ok(image)
    });
    let image = removed.await?;
    forge.uploads.remove(&location(project, &image)).await
}

/// Where the file of an image lies, for those who see its alert.
///
/// # Errors
/// `NotFound` for everybody else, and for another name.
pub async fn find(
    forge: &Forge,
    actor: Actor,
    id: MetricImageId,
    filename: String,
) -> Result<String> {
    let found = forge.db.peek(move |tx| {
        let found = tx.find_metric_image_of_any(id)?;
        let Some((project, image)) = found.filter(|(_, image)| image.filename == filename) else {
            return Err(Error::missing());
        };
        let (scope, who) = locate_project(tx, actor, &IdOrPath::Id(project.0))?;
        let _grant: Grant<ReadMetricImages> = Grant::check(&who, scope)?;
        Ok(location(project, &image))
    });
    found.await.map_err(|failure| match failure.kind {
        Kind::NotFound => Error::missing(),
        _ => failure,
    })
}
