//! Global ids: `gid://<app>/<class>/<id>`.

use crate::failure::Failure;

/// The part of a global id that names the application, which clients compare.
pub(crate) const APP: &str = "gitlab";

/// The class and the id of a global id.
///
/// # Errors
/// For a text that is none, or names another application.
pub fn parse_gid(text: &str) -> Result<(String, String), Failure> {
    let malformed = || Failure::Message(format!("\"{text}\" is not a valid Global ID"));
    let rest = text.strip_prefix("gid://").ok_or_else(malformed)?;
    let mut parts = rest.splitn(3, '/');
    let (Some(app), Some(class), Some(id)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(malformed());
    };
    if class.is_empty() || id.is_empty() || id.contains('\0') || app.is_empty() {
        return Err(malformed());
    }
    if app != APP {
        return Err(Failure::Message(format!("\"{text}\" is not a Gitlab Global ID")));
    }
    Ok((class.to_owned(), id.to_owned()))
}

/// The number in a global id of one of the classes; with none, of any.
///
/// # Errors
/// For a text that is no global id, or one of another class, or whose id is no number.
pub fn number_of(text: &str, classes: &[&str]) -> Result<i64, Failure> {
    let (class, id) = parse_gid(text)?;
    ensure_class(text, &class, classes)?;
    let digits = id.bytes().all(|byte| byte.is_ascii_digit());
    let number = id.parse().ok().filter(|_| digits);
    number.ok_or_else(|| Failure::Message(format!("\"{text}\" is not a valid Global ID")))
}

/// Ensures that a global id is of one of the classes; with none, of any.
///
/// # Errors
/// For another class. The message names the first, which is the one that the others are kinds of.
pub fn ensure_class(text: &str, class: &str, classes: &[&str]) -> Result<(), Failure> {
    match classes.first() {
        Some(wanted) if !classes.contains(&class) => {
            Err(Failure::Message(format!("\"{text}\" does not represent an instance of {wanted}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{number_of, parse_gid};

    fn refusal(text: &str) -> String {
        number_of(text, &["Issue"]).expect_err("no issue").to_string()
    }

    #[test]
    fn the_number_of_the_right_class_is_read() {
        assert_eq!(number_of("gid://gitlab/Issue/5", &["Issue"]).expect("an issue"), 5);
        let any = parse_gid("gid://gitlab/Ci::Build/7").expect("an id");
        assert_eq!(any, ("Ci::Build".to_owned(), "7".to_owned()));
    }

    #[test]
    fn other_texts_are_refused_with_their_reasons() {
        assert_eq!(
            refusal("gid://gitlab/User/1"),
            "\"gid://gitlab/User/1\" does not represent an instance of Issue"
        );
        assert_eq!(refusal("x"), "\"x\" is not a valid Global ID");
        assert_eq!(refusal("gid://x/User/1"), "\"gid://x/User/1\" is not a Gitlab Global ID");
        assert_eq!(
            refusal("gid://gitlab/Issue/+5"),
            "\"gid://gitlab/Issue/+5\" is not a valid Global ID"
        );
    }
}
