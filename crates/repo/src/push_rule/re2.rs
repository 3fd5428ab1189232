//! Patterns as they are written for RE2, rewritten for the engine that is used here; both are linear in time.
//!
//! The two agree on most. Here is what differs: classes like `\d` mean ASCII, a lonely brace is itself, `\Q…\E`, `\C`,
//! octal numbers, brackets inside of brackets; and RE2 refuses a repetition of a repetition.

/// Counted repetitions end here.
const MOST_TIMES: u32 = 1000;
const CLASS_NAMES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// Reasons for which a pattern is invalid, in RE2's words.
pub(super) type Refusal = String;

/// The same pattern in the engine's own language.
pub(super) fn translate(pattern: &str) -> Result<String, Refusal> {
    let mut writer =
        Writer { whole: pattern, out: String::new(), open: 0, last: LastPart::Nothing };
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        rest = writer.step(first, rest)?;
    }
    if writer.open > 0 {
        return Err(format!("missing ): {pattern}"));
    }
    Ok(writer.out)
}

/// The operand of a repetition.
enum LastPart {
    Nothing,
    Atom,
    Repetition(String),
}

struct Writer<'a> {
    whole: &'a str,
    out: String,
    open: usize,
    last: LastPart,
}

impl Writer<'_> {
    /// Writes what `rest` begins with, and answers what comes after it.
    fn step<'r>(&mut self, first: char, rest: &'r str) -> Result<&'r str, Refusal> {
        match first {
            '\\' if rest.starts_with("\\Q") => Ok(self.quotation(&rest[2..])),
            '\\' => {
                let (escape, after) = Escape::read(rest, ClassContext::Outside)?;
                self.atom(&escape.outside());
                Ok(after)
            }
            '[' => {
                let (class, after) = class(rest)?;
                self.atom(&class);
                Ok(after)
            }
            '(' => self.group(rest),
            ')' => self.close(&rest[1..]),
            '|' => {
                self.out.push('|');
                self.last = LastPart::Nothing;
                Ok(&rest[1..])
            }
            '*' | '+' | '?' => self.repeat(&rest[..1], &rest[1..]),
            '{' => match counted(rest)? {
                Some(length) => self.repeat(&rest[..length], &rest[length..]),
                None => {
                    self.atom("\\{");
                    Ok(&rest[1..])
                }
            },
            '.' | '^' | '$' => {
                self.atom(&rest[..1]);
                Ok(&rest[1..])
            }
            other => {
                let length = other.len_utf8();
                self.atom(&regex::escape(&rest[..length]));
                Ok(&rest[length..])
            }
        }
    }

    fn atom(&mut self, text: &str) {
        self.out.push_str(text);
        self.last = LastPart::Atom;
    }

    fn quotation<'r>(&mut self, rest: &'r str) -> &'r str {
        let (quoted, after) = rest.split_once("\\E").unwrap_or((rest, ""));
        // A repetition after it is of the last letter, here as there.
        if !quoted.is_empty() {
            self.atom(&regex::escape(quoted));
        }
        after
    }

    fn group<'r>(&mut self, rest: &'r str) -> Result<&'r str, Refusal> {
        let Some(special) = rest.strip_prefix("(?") else {
            self.open += 1;
            self.out.push('(');
            self.last = LastPart::Nothing;
            return Ok(&rest[1..]);
        };
        if special.starts_with("<=") || special.starts_with("<!") {
            return Err(format!("invalid perl operator: {}", &rest[..4]));
        }
        let named = special.strip_prefix("P<").or_else(|| special.strip_prefix('<'));
        if let Some(named) = named {
            return self.named_group(rest, named);
        }
        let length = special.find(|letter: char| !"imsU-".contains(letter));
        let end = length.and_then(|at| special[at..].chars().next());
        let (Some(length), Some(end @ (')' | ':'))) = (length, end) else {
            let shown = rest.chars().take(3).collect::<String>();
            return Err(format!("invalid perl operator: {shown}"));
        };
        if end == ':' {
            self.open += 1;
        }
        let whole = 2 + length + 1;
        self.out.push_str(&rest[..whole]);
        self.last = LastPart::Nothing;
        Ok(&rest[whole..])
    }

    fn named_group<'r>(&mut self, rest: &'r str, named: &'r str) -> Result<&'r str, Refusal> {
        let bad = || format!("invalid named capture group: {rest}");
        let (name, after) = named.split_once('>').ok_or_else(bad)?;
        let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if name.is_empty() || !name.chars().all(word) {
            return Err(format!("invalid named capture group: (?P<{name}>"));
        }
        self.open += 1;
        // Nobody asks for the name, and the engine wants it to begin with a letter.
        self.out.push('(');
        self.last = LastPart::Nothing;
        Ok(after)
    }

    fn close<'r>(&mut self, after: &'r str) -> Result<&'r str, Refusal> {
        self.open =
            self.open.checked_sub(1).ok_or_else(|| format!("unexpected ): {}", self.whole))?;
        self.atom(")");
        Ok(after)
    }

    fn repeat<'r>(&mut self, operator: &str, after: &'r str) -> Result<&'r str, Refusal> {
        match &self.last {
            LastPart::Nothing => {
                return Err(format!("no argument for repetition operator: {operator}"));
            }
            LastPart::Repetition(before) => {
                return Err(format!("bad repetition operator: {before}{operator}"));
            }
            LastPart::Atom => {}
        }
        self.out.push_str(operator);
        let lazy = after.strip_prefix('?');
        if lazy.is_some() {
            self.out.push('?');
        }
        let shown = if lazy.is_some() { format!("{operator}?") } else { operator.to_owned() };
        self.last = LastPart::Repetition(shown);
        Ok(lazy.unwrap_or(after))
    }
}

/// How long a counted repetition is that `rest` begins with. Other braces are letters.
fn counted(rest: &str) -> Result<Option<usize>, Refusal> {
    let Some(end) = rest.find('}') else { return Ok(None) };
    let (low, high) = match rest[1..end].split_once(',') {
        None => (&rest[1..end], None),
        Some((low, high)) => (low, Some(high)),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if low.is_empty() || !digits(low) || !high.is_none_or(digits) {
        return Ok(None);
    }
    let times = |text: &str| text.parse().ok().filter(|times: &u32| *times <= MOST_TIMES);
    let fits = match (times(low), high) {
        (None, _) => false,
        (Some(_), None | Some("")) => true,
        (Some(low), Some(high)) => times(high).is_some_and(|high| low <= high),
    };
    match fits {
        true => Ok(Some(end + 1)),
        false => Err(format!("invalid repetition size: {}", &rest[..=end])),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ClassContext {
    Outside,
    InClass,
}

/// The meaning of an escape sequence.
enum Escape {
    Letter(char),
    /// What stands in brackets, and whether everything else is meant.
    Set(&'static str, bool),
    /// Unicode's own classes, ready to be used anywhere.
    Unicode(String),
    /// A place or a byte: only outside of brackets.
    Bare(&'static str),
}

const DIGITS: &str = "0-9";
const WORDS: &str = "0-9A-Za-z_";
const BLANKS: &str = "\\t\\n\\f\\r\\x20";

impl Escape {
    fn read(rest: &str, place: ClassContext) -> Result<(Self, &str), Refusal> {
        let mut letters = rest[1..].chars();
        let Some(letter) = letters.next() else { return Err("trailing \\".to_owned()) };
        let after = letters.as_str();
        let bad = || format!("invalid escape sequence: \\{letter}");
        let escape = match letter {
            'd' => Self::Set(DIGITS, false),
            'D' => Self::Set(DIGITS, true),
            'w' => Self::Set(WORDS, false),
            'W' => Self::Set(WORDS, true),
            's' => Self::Set(BLANKS, false),
            'S' => Self::Set(BLANKS, true),
            'a' => Self::Letter('\u{7}'),
            'f' => Self::Letter('\u{c}'),
            't' => Self::Letter('\t'),
            'n' => Self::Letter('\n'),
            'r' => Self::Letter('\r'),
            'v' => Self::Letter('\u{b}'),
            'p' | 'P' => return unicode(letter == 'P', after),
            'x' => return hexadecimal(after),
            '0'..='7' => return octal(letter, &rest[1..]).ok_or_else(bad),
            _ if letter.is_ascii() && !letter.is_ascii_alphanumeric() => Self::Letter(letter),
            _ if place == ClassContext::InClass => return Err(bad()),
            'A' => Self::Bare("\\A"),
            'z' => Self::Bare("\\z"),
            'b' => Self::Bare("(?-u:\\b)"),
            'B' => Self::Bare("(?-u:\\B)"),
            'C' => Self::Bare("(?s-u:.)"),
            _ => return Err(bad()),
        };
        Ok((escape, after))
    }

    fn outside(&self) -> String {
        match self {
            Self::Letter(letter) => literal(*letter),
            Self::Set(set, false) => format!("[{set}]"),
            Self::Set(set, true) => format!("[^{set}]"),
            Self::Unicode(class) => class.clone(),
            Self::Bare(text) => (*text).to_owned(),
        }
    }

    fn in_class(&self) -> String {
        match self {
            Self::Set(set, false) => (*set).to_owned(),
            other => other.outside(),
        }
    }
}

/// `\pN`, `\p{Greek}`, `\p{^Greek}`; what there is no such class of is told when the pattern is compiled.
fn unicode(negated: bool, rest: &str) -> Result<(Escape, &str), Refusal> {
    let bad = || format!("invalid character class range: \\p{rest}");
    let (name, after) = match rest.strip_prefix('{') {
        Some(braced) => braced.split_once('}').ok_or_else(bad)?,
        None => {
            let length = rest.chars().next().map(char::len_utf8).ok_or_else(bad)?;
            rest.split_at(length)
        }
    };
    let (name, opposite) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
    if name.is_empty()
        || !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    {
        return Err(bad());
    }
    let kind = if negated == opposite { 'p' } else { 'P' };
    Ok((Escape::Unicode(format!("\\{kind}{{{name}}}")), after))
}

fn hexadecimal(rest: &str) -> Result<(Escape, &str), Refusal> {
    let bad =
        || format!("invalid escape sequence: \\x{}", rest.chars().take(2).collect::<String>());
    let (digits, after) = match rest.strip_prefix('{') {
        Some(braced) => braced.split_once('}').ok_or_else(bad)?,
        None => rest.split_at_checked(2).ok_or_else(bad)?,
    };
    let number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = number.then(|| u32::from_str_radix(digits, 16).ok()).flatten();
    let letter = number.and_then(char::from_u32).ok_or_else(bad)?;
    Ok((Escape::Letter(letter), after))
}

/// Up to three digits. A lonely digit that is not zero would refer to a group, which takes more than linear time.
fn octal(first: char, digits: &str) -> Option<(Escape, &str)> {
    let length = digits.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
    if first != '0' && length < 2 {
        return None;
    }
    let letter = char::from_u32(u32::from_str_radix(&digits[..length], 8).ok()?)?;
    Some((Escape::Letter(letter), &digits[length..]))
}

/// A letter that means itself, in brackets and outside of them.
fn literal(letter: char) -> String {
    match letter.is_ascii_alphanumeric() || !letter.is_ascii() {
        true => letter.to_string(),
        false => format!("\\x{{{:x}}}", u32::from(letter)),
    }
}

/// A class in brackets, with which `rest` begins.
fn class(rest: &str) -> Result<(String, &str), Refusal> {
    let missing = || format!("missing ]: {rest}");
    let (mut out, mut at) = ("[".to_owned(), &rest[1..]);
    if let Some(after) = at.strip_prefix('^') {
        out.push('^');
        at = after;
    }
    let mut first = true;
    loop {
        if let Some(after) = at.strip_prefix(']').filter(|_| !first) {
            out.push(']');
            return Ok((out, after));
        }
        first = false;
        if let Some((named, after)) = named_class(at)? {
            out.push_str(named);
            at = after;
            continue;
        }
        let (low, after) = item(at).ok_or_else(missing)??;
        let bounds = after.strip_prefix('-').filter(|high| !high.starts_with(']'));
        match (low, bounds) {
            (Escape::Letter(low), Some(high)) => {
                let (end, after) = item(high).ok_or_else(missing)??;
                let shown = &at[..at.len() - after.len()];
                match end {
                    Escape::Letter(high) if low <= high => {
                        out.push_str(&format!("{}-{}", literal(low), literal(high)));
                    }
                    _ => return Err(format!("invalid character class range: {shown}")),
                }
                at = after;
            }
            (low, _) => {
                out.push_str(&low.in_class());
                at = after;
            }
        }
    }
}

/// `[:alpha:]`
fn named_class(rest: &str) -> Result<Option<(&str, &str)>, Refusal> {
    let Some(inner) = rest.strip_prefix("[:") else { return Ok(None) };
    let Some(length) = inner.find(":]") else { return Ok(None) };
    let whole = &rest[..length + 4];
    let name = inner[..length].trim_start_matches('^');
    match CLASS_NAMES.contains(&name) {
        true => Ok(Some((whole, &rest[whole.len()..]))),
        false => Err(format!("invalid character class range: {whole}")),
    }
}

/// One letter or escape of a class; nothing at the end of the pattern.
fn item(rest: &str) -> Option<Result<(Escape, &str), Refusal>> {
    let letter = rest.chars().next()?;
    Some(match letter {
        '\\' => Escape::read(rest, ClassContext::InClass),
        letter => Ok((Escape::Letter(letter), &rest[letter.len_utf8()..])),
    })
}
