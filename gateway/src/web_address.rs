//! Addresses that pages lead to, and the rows that answer them: the path of a project or group has any number of parts
//! there, and one part in a row.

/// The path, still percent-encoded, under which a row is found for the address of a wiki's file.
pub fn row_path(path: &str) -> Option<String> {
    let (home, file) = path.split_once("/-/wikis/")?;
    let (kind, home) = match home.strip_prefix("/groups/") {
        Some(home) => ("group", home),
        None => ("project", home.strip_prefix('/')?),
    };
    if home.is_empty() || file.is_empty() || home.starts_with("api/") {
        return None;
    }
    let whole = |text: &str| text.replace('/', "%2F");
    Some(format!("/-/{kind}/{}/wikis/{}", whole(home), whole(file)))
}

/// Kept with a request that has another path than its row.
#[derive(Clone, Debug)]
pub struct RowPath(pub String);

#[cfg(test)]
mod tests {
    use super::row_path;

    #[test]
    fn files_of_wikis_are_found_by_the_address_in_pages() {
        for (address, row) in [
            ("/a/b/-/wikis/uploads/0/p.png", Some("/-/project/a%2Fb/wikis/uploads%2F0%2Fp.png")),
            ("/groups/a/b/-/wikis/x%20y.md", Some("/-/group/a%2Fb/wikis/x%20y.md")),
            ("/a/b/-/wikis/", None),
            ("/groups//-/wikis/x", None),
            ("/api/v4/-/wikis/x", None),
            ("/-/project/1/wikis/x", None),
            ("/a/b", None),
        ] {
            assert_eq!(row_path(address).as_deref(), row, "{address}");
        }
    }
}
