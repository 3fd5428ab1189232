//! Projects: making, reading, changing, archiving, moving and removing one.

use db::Tx;
use kernel::{
    Ability, Error,
    access::{Administrate, SignedIn},
    ids::UserId,
};
use org::{
    access::IdOrPath,
    custom_attribute::{Subject, store::CustomAttributeStore},
    policy::{AdminProject, OwnProject, ReadProject},
    project::{
        Project, ProjectChange, Want,
        actions::{self, Creation},
        record,
    },
    settings::store::SettingsStore,
    user::{User, store::UserStore},
};
use repo::{
    git::{GitError, Oid, Reader, RefName, refs},
    policy::ReadCode,
};
use review::issue::open_count::OpenIssueStore;

use super::{
    custom_attribute_params::entities,
    project_params::{CreateProject, CreateProjectFor, ProjectParams, UpdateProject},
};
use crate::{
    app::App,
    compose::{
        avatars::{self, Owner, Staged},
        beginnings::promise_repository,
        projects::{Beginning, begin, clear_away},
        surveys::survey,
    },
    entities::{
        licenses,
        project::{LicenseEntity, ProjectForm},
    },
    error::{ApiError, ApiResult},
    extract::{Call, Change},
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
    struct Transfer {
        namespace: String,
    }
}

const FULL: Want = Want::Full { statistics: false };

/// The full record of a project, as the caller sees it.
pub(super) async fn presented<A: Ability, P>(
    app: &App,
    call: &Call<A, P>,
    project: Project,
) -> ApiResult<ProjectForm> {
    let actor = call.grant.actor();
    let id = project.id;
    let shown =
        app.db.peek(move |tx| Ok((record::one(tx, actor, id, FULL)?, tx.open_issues(&[id])?)));
    let (shown, open) = shown.await?;
    Ok(ProjectForm::new(&app.urls, &shown, &open))
}

async fn create(app: App, call: Call<SignedIn, CreateProject>) -> ApiResult<Created<ProjectForm>> {
    let wanted = wanted(&app, &call.params, call.caller.user()?).await?;
    let grant = call.grant.clone();
    let made = make(&app, wanted, move |tx, creation| actions::create(tx, &grant, creation));
    Ok(Created(presented(&app, &call, made.await?).await?))
}

async fn create_for(
    app: App,
    call: Call<Administrate, CreateProjectFor>,
) -> ApiResult<Created<ProjectForm>> {
    let id = UserId(call.params.user_id);
    let owner = app.db.peek(move |tx| tx.user(id)).await?;
    let wanted = wanted(&app, &call.params.create, &owner).await?;
    let grant = call.grant.clone();
    let made =
        make(&app, wanted, move |tx, creation| actions::create_for(tx, &grant, id, creation));
    Ok(Created(presented(&app, &call, made.await?).await?))
}

/// A project as it is asked for, with all that comes with it.
struct Wanted {
    creation: Creation,
    beginning: Beginning,
    picture: Option<Staged>,
}

/// Writes a new project down together with its picture, and gives it its repository.
async fn make(
    app: &App,
    wanted: Wanted,
    write: impl FnOnce(&mut Tx<'_>, &Creation) -> kernel::Result<Project> + Clone + Send + 'static,
) -> ApiResult<Project> {
    let Wanted { creation, beginning, picture } = wanted;
    let head = beginning.branch().to_owned();
    let made = app.db.write(move |tx| {
        let made = write(tx, &creation)?;
        promise_repository(tx, made.id, &head)?;
        if let Some(picture) = picture {
            picture.settle(Owner::Project(made.id))?;
        }
        Ok(made)
    });
    Ok(begin(app, made.await?, beginning).await?)
}

/// The installation says how first branches are called, where the caller does not.
async fn begin_at_usual_branch(app: &App, beginning: &mut Beginning) -> ApiResult<()> {
    if beginning.branch.is_none() {
        let settings = app.db.peek(|tx| tx.settings()).await?;
        beginning.branch = Some(settings.default_branch_name);
    }
    Ok(())
}

async fn wanted(app: &App, params: &CreateProject, author: &User) -> ApiResult<Wanted> {
    let only = &params.only;
    let filled = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    if filled(&only.import_url) || filled(&only.template_name) || only.template_project_id.is_some()
    {
        return Err(Error::Refused("import source is disabled".to_owned()).into());
    }
    let picture = picture(app, &params.project).await?;
    let name = picture.as_ref().map(|picture| Some(picture.name.clone()));
    let change = ProjectChange { avatar: name, ..params.project.to_change() };
    let readme = only.initialize_with_readme.unwrap_or_default();
    let mut beginning =
        Beginning { branch: change.default_branch.clone(), readme: readme.then(|| author.clone()) };
    begin_at_usual_branch(app, &mut beginning).await?;
    let creation = Creation {
        namespace: only.namespace_id,
        name: change.name.clone().filter(|name| !name.is_empty()),
        path: change.path.clone().filter(|path| !path.is_empty()),
        change,
    };
    Ok(Wanted { creation, beginning, picture })
}

/// The picture that came with the other parameters, on the disk.
async fn picture(app: &App, given: &ProjectParams) -> ApiResult<Option<Staged>> {
    match &given.own.avatar {
        Change::Set(file) => Ok(Some(avatars::stage(app, file.clone()).await?)),
        Change::Keep | Change::Clear => Ok(None),
    }
}

async fn show(app: App, call: Call<ReadProject, ShowProject>) -> ApiResult<Json<ProjectForm>> {
    let (id, actor) = (call.grant.project(), call.grant.actor());
    let want = Want::Full { statistics: call.params.statistics.unwrap_or_default() };
    let noted = call.params.with_custom_attributes.unwrap_or_default() && actor.admin;
    let found = app.db.peek(move |tx| {
        let notes = match noted {
            true => Some(tx.custom_attributes(Subject::Project(id))?),
            false => None,
        };
        Ok((record::one(tx, actor, id, want)?, notes, tx.open_issues(&[id])?))
    });
    let (found, notes, open) = found.await?;
    let mut record = ProjectForm::new(&app.urls, &found, &open);
    record.basic_mut().custom_attributes = notes.map(entities);
    if call.params.license.unwrap_or_default() && call.grant.also::<ReadCode>().is_ok() {
        let found = licence(&app, &call).await?;
        let basic = record.basic_mut();
        basic.license_url = Some(found.as_ref().map(|(path, _)| {
            let branch = call.grant.facts().default_branch.clone().unwrap_or_default();
            format!("{}/-/blob/{branch}/{path}", basic.web_url)
        }));
        basic.license = Some(found.map(|(_, license)| license));
    }
    Ok(Json(record))
}

/// The licence of the default branch, with its file: of several files the first that is recognised, else the first.
async fn licence(
    app: &App,
    call: &Call<ReadProject, ShowProject>,
) -> ApiResult<Option<(String, LicenseEntity)>> {
    let Some(branch) = call.grant.facts().default_branch.clone() else { return Ok(None) };
    let branch = RefName::branch(&branch).map_err(Error::from)?;
    let found = app.git_read(call.grant.project(), move |reader| {
        let Some(tip) = reader.find_reference(&branch)? else { return Ok(None) };
        let mut first = None;
        for file in reader.licenses(tip.target)?.into_iter().take(MOST_LICENCES) {
            let path = file.path.to_text().into_owned();
            match recognized(reader, file.id)? {
                Some(license) => return Ok(Some((path, license))),
                None => first = first.or(Some((path, licenses::OTHER))),
            }
        }
        Ok(first)
    });
    Ok(found.await?)
}

/// Nobody offers a choice of more.
const MOST_LICENCES: usize = 20;

/// What a file says, where it is a licence that people know.
fn recognized(reader: &Reader, file: Oid) -> Result<Option<LicenseEntity>, Error> {
    /// No licence is longer.
    const LONGEST: u64 = 1 << 20;
    match reader.blob(file, LONGEST) {
        Ok(text) => Ok(licenses::of_text(&String::from_utf8_lossy(&text))),
        Err(GitError::TooLarge) => Ok(None),
        Err(failure) => Err(failure.into()),
    }
}

async fn update(app: App, call: Call<AdminProject, UpdateProject>) -> ApiResult<Json<ProjectForm>> {
    let mut change = call.params.0.to_change();
    let picture = picture(&app, &call.params.0).await?;
    change.avatar = match call.params.0.own.avatar {
        Change::Keep => None,
        Change::Clear => Some(None),
        Change::Set(_) => Some(picture.as_ref().map(|picture| picture.name.clone())),
    };
    let head = change
        .default_branch
        .clone()
        .filter(|branch| call.grant.facts().default_branch.as_ref() != Some(branch));
    let head = match head {
        Some(branch) => Some(existing(&app, &call, branch).await?),
        None => None,
    };
    let grant = call.grant.clone();
    let repainted = change.avatar.is_some();
    let changed = app.db.write(move |tx| {
        let project = actions::update(tx, &grant, &change)?;
        if let Some(picture) = picture {
            picture.settle(Owner::Project(project.id))?;
        }
        Ok(project)
    });
    let project = changed.await?;
    if repainted {
        avatars::tidy(&app, Owner::Project(project.id), project.avatar.clone()).await?;
    }
    if let Some(branch) = head {
        refs::set_head(&app.storage.repository(project.id), &branch).await.map_err(Error::from)?;
        // What the record tells of its branch is that of another one now.
        survey(&app, project.id).await?;
    }
    Ok(Json(presented(&app, &call, project).await?))
}

/// The branch that is to become the default one, which must be there.
async fn existing(
    app: &App,
    call: &Call<AdminProject, UpdateProject>,
    name: String,
) -> ApiResult<RefName> {
    let missing = || {
        let text = format!("Could not change HEAD: branch '{name}' does not exist");
        ApiError::from(Error::invalid("base", text))
    };
    let branch = RefName::branch(&name).map_err(|_cause| missing())?;
    let wanted = branch.clone();
    let found = app
        .git_read(call.grant.project(), move |reader| Ok(reader.find_reference(&wanted)?.is_some()))
        .await?;
    if found { Ok(branch) } else { Err(missing()) }
}

async fn delete(app: App, call: Call<OwnProject>) -> ApiResult<Accepted> {
    let (since, grant) = (call.unmodified_since(), call.grant.clone());
    let project = app.db.write(move |tx| actions::delete(tx, &grant, since)).await?;
    clear_away(&app, project.id).await?;
    Ok(Accepted)
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
