//! Scheduling of an import: its row, the project's status and the first job.

use admin::{
    import::{
        Credentials, ImportKind, ImportStatus, ImportStep, ImportStore as _, NewImport, Origin,
    },
    integration::UrlRule as _,
};
use db::Tx;
use kernel::{Error, Result, TextEnum as _, ids::ProjectId};
use org::{settings::store::SettingsStore as _, user::User};
use secrets::Vault;
use worker::Queue as _;

use super::job::{RunImport, advance};
use crate::Forge;

/// Whether administrators leave a kind of source switched on.
pub(crate) async fn is_enabled(forge: &Forge, kind: ImportKind) -> Result<bool> {
    let settings = forge.db.peek(|tx| tx.settings()).await?;
    Ok(settings.import_sources().contains(&kind.as_str()))
}

/// What `import_url` of a new project says; its name and password are kept apart and sealed.
///
/// # Errors
/// `Forbidden` where administrators have switched this source off; `BadRequest` for an address that is not gone to.
pub(crate) async fn import_of_url(forge: &Forge, user: &User, url: &str) -> Result<NewImport> {
    if !is_enabled(forge, ImportKind::Url).await? {
        return Err(Error::forbidden().because("import source is disabled"));
    }
    let odd = || Error::invalid("import_url", "is blocked: Only allowed schemes are http, https");
    let bare = web_address(url).ok_or_else(odd)?;
    if !forge.courier.rules.web().allows(&bare) {
        return Err(Error::invalid("import_url", format!("is blocked: {}", blocked_text(&bare))));
    }
    Ok(NewImport {
        kind: ImportKind::Url,
        user: user.id,
        source: bare.clone(),
        credentials: person(url),
        origin: Origin { git: bare.clone(), web: bare, ..Origin::default() },
    })
}

/// Writes down that a new project is filled from elsewhere; its repository must be on its way.
pub(crate) fn schedule(
    tx: &mut Tx<'_>,
    project: ProjectId,
    new: &NewImport,
    vault: &Vault,
) -> Result<()> {
    tx.insert_import(project, new, vault)?;
    advance(tx, project, ImportStatus::None, ImportStep::Schedule)?;
    tx.enqueue(&RunImport { project })
}

/// Why a web address is not gone to.
pub(crate) fn blocked_text(url: &str) -> &'static str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    let is_number =
        |port: &&str| !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
    let is_open = |port: u16| [80, 443].contains(&port) || port >= 1024;
    match port.filter(is_number).is_none_or(|port| port.parse().is_ok_and(is_open)) {
        true => "Requests to the local network are not allowed",
        false => "Only allowed ports are 80, 443, and any over 1024",
    }
}

/// An address of the web without a slash at its end, and without a name, password, query or fragment.
pub(crate) fn web_address(url: &str) -> Option<String> {
    let (scheme, rest) = url.trim().split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let is_plain = !rest.is_empty()
        && !rest.contains(|letter: char| {
            letter.is_whitespace() || letter.is_control() || letter == '\\'
        });
    if !matches!(scheme.as_str(), "http" | "https") || !is_plain {
        return None;
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    Some(without_person(&format!("{scheme}://{}", rest.trim_end_matches('/'))))
}

pub(crate) fn without_person(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// The name and password before the host of an address.
fn person(url: &str) -> Option<Credentials> {
    let (_, rest) = url.trim().split_once("://")?;
    let authority = rest.split('/').next()?;
    let (person, _) = authority.rsplit_once('@')?;
    let (username, password) = person.split_once(':').unwrap_or((person, ""));
    let clear =
        |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some(Credentials { username: clear(username), password: clear(password) })
}

#[cfg(test)]
mod tests {
    use super::{blocked_text, person, web_address};

    #[test]
    fn a_port_that_is_refused_is_the_reason() {
        for url in ["http://a.test:22/x", "https://[::1]:25", "http://a.test:99999"] {
            assert!(blocked_text(url).starts_with("Only allowed ports are "), "{url}");
        }
        for url in ["http://127.0.0.1/x:22", "http://[::1]", "http://127.0.0.1:8080/"] {
            assert!(blocked_text(url).contains("local network"), "{url}");
        }
    }

    #[test]
    fn an_address_is_kept_without_its_password() {
        let url = "HTTPS://ada:s%3At@git.example.com/a/b.git/?x=1";
        assert_eq!(web_address(url).unwrap(), "https://git.example.com/a/b.git");
        let person = person(url).unwrap();
        assert_eq!((person.username.as_str(), person.password.as_str()), ("ada", "s:t"));
        assert!(super::person("https://git.example.com/a@b").is_none());
        for odd in
            ["ssh://a/b", "file:///etc", "--upload-pack=x", "https://", "http://a\\b", "http://a b"]
        {
            assert!(web_address(odd).is_none(), "{odd}");
        }
    }
}
