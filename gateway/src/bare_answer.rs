//! Answers that the parser below us gives by itself, to what is no request: they have a head and nothing else, and here
//! they get the body that every refusal has.

/// What every answer of ours carries, and no answer of the parser's.
const OURS: &[u8] = b"x-request-id";
const EMPTY: &str = "content-length: 0";
const END: &str = "\r\n\r\n";

/// The same answer with a body, when these bytes are a whole answer of the parser's.
pub fn with_body(answer: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(answer).ok()?;
    let head = text.strip_suffix(END)?;
    let (first, rest) = head.split_once("\r\n")?;
    let status = first.strip_prefix("HTTP/1.1 ").or_else(|| first.strip_prefix("HTTP/1.0 "))?;
    let is_bare = status.starts_with('4')
        && !head.contains(END)
        && rest.split("\r\n").any(|line| line == EMPTY)
        && !answer.windows(OURS.len()).any(|part| part.eq_ignore_ascii_case(OURS));
    if !is_bare {
        return None;
    }
    let body = serde_json::json!({ "error": status }).to_string();
    let headers: Vec<&str> = rest.split("\r\n").filter(|line| *line != EMPTY).collect();
    let id = hex::encode(rand::random::<[u8; 16]>());
    let ours = format!(
        "content-type: application/json\r\ncontent-length: {}\r\nx-request-id: {id}\r\nvary: Origin\r\n\
         x-content-type-options: nosniff\r\nx-frame-options: SAMEORIGIN\r\n\
         cache-control: max-age=0, private, must-revalidate",
        body.len()
    );
    let lines = [&[first][..], &headers, &[&ours, "", &body]].concat();
    Some(lines.join("\r\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::with_body;

    #[test]
    fn only_a_bare_answer_of_the_parser_gets_a_body() {
        let bare = "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let told = String::from_utf8(with_body(bare.as_bytes()).unwrap()).unwrap();
        assert!(
            told.starts_with(
                "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n"
            )
        );
        assert!(told.contains("\r\ncontent-length: 47\r\n"), "{told}");
        assert!(told.ends_with("\r\n\r\n{\"error\":\"431 Request Header Fields Too Large\"}"));

        for other in [
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nX-Request-Id: 1\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 4\r\n\r\n\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
        ] {
            assert_eq!(with_body(other.as_bytes()), None, "{other}");
        }
    }
}
