//! Projects: making, reading, changing, archiving, moving and removing one.

use admin::{archive::ArchiveImportStore as _, import::ImportStore as _};
use entities::org::project::ProjectForm;
use forge::{
    artifact_sizes,
    project::{
        create::{self, NewProject},
        remove::remove,
        update,
    },
};
use kernel::{
    Ability, Error,
    access::{Administrate, SignedIn},
    ids::{ProjectId, UserId},
};
use org::{
    access::IdOrPath,
    custom_attribute::{Subject, store::CustomAttributeStore},
    policy::{AdminProject, OwnProject, ReadProject},
    project::{
        Detail, Project, actions,
        creation::Creation,
        record,
        removal::{self, Removal},
    },
};
use repo::{
    git::RefName,
    license::{self, License},
    policy::ReadCode,
};
use review::issue::open_count::{BESIDE_PROJECTS, OpenIssues};

use super::{
    custom_attribute_params::entities,
    project_params::{CreateProject, CreateProjectFor, UpdateProject},
};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Accepted, Created, Json},
    routes,
};

routes! { "Projects" at "/projects";
    POST   ""                => create      : SignedIn,
    POST   "/user/{user_id}" => create_for  : Administrate,
    GET    "/{id}"           => show        : ReadProject,
    PUT    "/{id}"           => update      : AdminProject,
    DELETE "/{id}"           => delete      : OwnProject,
    POST   "/{id}/restore"   => restore     : OwnProject,
    POST   "/{id}/archive"   => archive     : OwnProject,
    POST   "/{id}/unarchive" => unarchive   : OwnProject,
    PUT    "/{id}/transfer"  => transfer    : OwnProject,
}

params! {
    struct ShowProject {
        statistics: Option<bool>,
        license: Option<bool>,
        with_custom_attributes: Option<bool>,
    }
}

params! {
    struct DeleteProject {
        /// Whether a project that is marked for deletion goes at once. Default: `false`.
        permanently_remove: bool = false,
        /// Its full path once more, for that.
        full_path: Option<String>,
    }
}

params! {
    struct Transfer {
        namespace: String,
    }
}

const FULL: Detail = Detail::Full { statistics: false };

/// The full record of a project, as the caller sees it.
pub(super) async fn presented<A: Ability, P>(
    app: &App,
    call: &Call<A, P>,
    project: Project,
) -> ApiResult<ProjectForm> {
    let actor = call.grant.actor();
    let id = project.id;
    let shown = app.db.peek(move |tx| record::one(tx, actor, id, FULL, BESIDE_PROJECTS));
    let (shown, open) = shown.await?;
    let mut record = ProjectForm::new(&app.urls, &shown, &OpenIssues::beside([(id, open)]));
    add_related(app, vec![&mut record]).await?;
    Ok(record)
}

/// Adds where projects came from, where any of them did, and what their artifacts take, where sizes were asked for.
pub(super) async fn add_related(app: &App, mut records: Vec<&mut ProjectForm>) -> ApiResult<()> {
    add_artifact_sizes(app, &mut records).await?;
    let ids: Vec<ProjectId> =
        records.iter().filter(|one| one.is_imported()).map(|one| one.id()).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let read = app.db.peek(move |tx| Ok((tx.imports_of(&ids)?, tx.archive_imports_of(&ids)?)));
    let (imports, archives) = read.await?;
    for record in &mut records {
        if let Some(import) = imports.get(&record.id()) {
            record.set_import(import);
        }
        let id = record.id();
        if let Some(archive) = archives.iter().find(|one| one.project_id == Some(id)) {
            record.set_archive_import(archive);
        }
    }
    Ok(())
}

async fn add_artifact_sizes(app: &App, records: &mut [&mut ProjectForm]) -> ApiResult<()> {
    let sized =
        records.iter_mut().filter_map(|one| one.statistics_mut().is_some().then(|| one.id()));
    let ids: Vec<ProjectId> = sized.collect();
    if ids.is_empty() {
        return Ok(());
    }
    let sizes = app.db.read(move |tx| artifact_sizes::of_projects(tx, &ids)).await?;
    for record in records {
        let bytes = sizes.get(&record.id()).copied().unwrap_or_default();
        if let Some(statistics) = record.statistics_mut() {
            statistics.add_artifacts(bytes);
        }
    }
    Ok(())
}

async fn create(app: App, call: Call<SignedIn, CreateProject>) -> ApiResult<Created<ProjectForm>> {
    let new = new_project(&call.params);
    let made = create::create(&app, &call.grant, call.caller.user()?, new).await?;
    Ok(Created(presented(&app, &call, made).await?))
}

async fn create_for(
    app: App,
    call: Call<Administrate, CreateProjectFor>,
) -> ApiResult<Created<ProjectForm>> {
    let new = new_project(&call.params.create);
    let owner = UserId(call.params.user_id);
    let made = create::create_for(&app, &call.grant, owner, new).await?;
    Ok(Created(presented(&app, &call, made).await?))
}

fn new_project(params: &CreateProject) -> NewProject {
    let only = &params.only;
    let filled = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let change = params.project.to_change();
    NewProject {
        import_url: only.import_url.clone().filter(|url| !url.is_empty()),
        from_template: filled(&only.template_name) || only.template_project_id.is_some(),
        readme: only.initialize_with_readme.unwrap_or_default(),
        picture: params.project.own.avatar.clone().into_update().flatten(),
        creation: Creation {
            namespace: only.namespace_id,
            name: change.name.clone().filter(|name| !name.is_empty()),
            path: change.path.clone().filter(|path| !path.is_empty()),
            change,
        },
    }
}

async fn show(app: App, call: Call<ReadProject, ShowProject>) -> ApiResult<Json<ProjectForm>> {
    let (id, actor) = (call.grant.project(), call.grant.actor());
    let want = Detail::Full { statistics: call.params.statistics.unwrap_or_default() };
    let noted = call.params.with_custom_attributes.unwrap_or_default() && actor.admin;
    let found = app.db.peek(move |tx| {
        let notes = match noted {
            true => Some(tx.custom_attributes(Subject::Project(id))?),
            false => None,
        };
        Ok((record::one(tx, actor, id, want, BESIDE_PROJECTS)?, notes))
    });
    let ((found, open), notes) = found.await?;
    let mut record = ProjectForm::new(&app.urls, &found, &OpenIssues::beside([(id, open)]));
    add_related(&app, vec![&mut record]).await?;
    record.basic_mut().custom_attributes = notes.map(entities);
    if call.params.license.unwrap_or_default() && call.grant.also::<ReadCode>().is_ok() {
        let found = license(&app, &call).await?;
        let basic = record.basic_mut();
        basic.license_url = Some(found.as_ref().map(|(path, _)| {
            let branch = call.grant.facts().default_branch.clone().unwrap_or_default();
            format!("{}/-/blob/{branch}/{path}", basic.web_url)
        }));
        basic.license = Some(found.map(|(_, license)| license.into()));
    }
    Ok(Json(record))
}

/// The license of the default branch, with the path of its file.
async fn license(
    app: &App,
    call: &Call<ReadProject, ShowProject>,
) -> ApiResult<Option<(String, License)>> {
    let Some(branch) = call.grant.facts().default_branch.clone() else { return Ok(None) };
    let branch = RefName::branch(&branch).map_err(Error::from)?;
    let found = app.git_read(call.grant.project(), move |reader| {
        let Some(tip) = reader.find_reference(&branch)? else { return Ok(None) };
        license::of_commit(reader, tip.target)
    });
    Ok(found.await?)
}

async fn update(app: App, call: Call<AdminProject, UpdateProject>) -> ApiResult<Json<ProjectForm>> {
    let params = &call.params.0;
    let picture = params.own.avatar.clone().into_update();
    let project = update::update(&app, &call.grant, params.to_change(), picture).await?;
    Ok(Json(presented(&app, &call, project).await?))
}

async fn delete(app: App, call: Call<OwnProject, DeleteProject>) -> ApiResult<Accepted> {
    let how = Removal {
        permanently: call.params.permanently_remove,
        full_path: call.params.full_path.clone(),
        unless_newer: call.unmodified_since(),
    };
    remove(&app, &call.grant, how).await?;
    Ok(Accepted)
}

async fn restore(app: App, call: Call<OwnProject>) -> ApiResult<Created<ProjectForm>> {
    let grant = call.grant.clone();
    let project = app.db.write(move |tx| removal::restore(tx, &grant)).await?;
    Ok(Created(presented(&app, &call, project).await?))
}

async fn archive(app: App, call: Call<OwnProject>) -> ApiResult<Created<ProjectForm>> {
    set_archived(app, call, true).await
}

async fn unarchive(app: App, call: Call<OwnProject>) -> ApiResult<Created<ProjectForm>> {
    set_archived(app, call, false).await
}

async fn set_archived(
    app: App,
    call: Call<OwnProject>,
    archived: bool,
) -> ApiResult<Created<ProjectForm>> {
    let grant = call.grant.clone();
    let project = app.db.write(move |tx| actions::set_archived(tx, &grant, archived)).await?;
    Ok(Created(presented(&app, &call, project).await?))
}

async fn transfer(app: App, call: Call<OwnProject, Transfer>) -> ApiResult<Json<ProjectForm>> {
    let (grant, target) = (call.grant.clone(), IdOrPath::parse(&call.params.namespace));
    let project = app.db.write(move |tx| actions::transfer(tx, &grant, &target)).await?;
    Ok(Json(presented(&app, &call, project).await?))
}
