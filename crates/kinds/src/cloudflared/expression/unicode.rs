//! The Unicode classes and the case folding of Go's regular expressions. The tables are regex-syntax's, cut down to
//! the Unicode version that Go carries; which names there are is Go's own list.

use std::sync::LazyLock;

use regex_syntax::hir::{Class as HirClass, ClassUnicode, ClassUnicodeRange, HirKind};

use super::ranges::{Ranges, SURROGATES};

/// The Unicode version of Go 1.26's tables (`unicode.Version`). Characters of a later one are unassigned there.
const AGE: &str = r"\p{age=15.0}";

/// Go's categories that regex-syntax has as well, under the same names.
const CATEGORIES: &[&str] = &[
    "Cc", "Cf", "Co", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl", "No", "P",
    "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs",
];

/// Long names of categories as Go compares them (its `CategoryAliases`, first letter upper case, the rest lower).
const ALIASES: &[(&str, &str)] = &[
    ("Casedletter", "Lc"),
    ("Closepunctuation", "Pe"),
    ("Combiningmark", "M"),
    ("Connectorpunctuation", "Pc"),
    ("Control", "Cc"),
    ("Currencysymbol", "Sc"),
    ("Dashpunctuation", "Pd"),
    ("Decimalnumber", "Nd"),
    ("Enclosingmark", "Me"),
    ("Finalpunctuation", "Pf"),
    ("Format", "Cf"),
    ("Initialpunctuation", "Pi"),
    ("Letter", "L"),
    ("Letternumber", "Nl"),
    ("Lineseparator", "Zl"),
    ("Lowercaseletter", "Ll"),
    ("Mark", "M"),
    ("Mathsymbol", "Sm"),
    ("Modifierletter", "Lm"),
    ("Modifiersymbol", "Sk"),
    ("Nonspacingmark", "Mn"),
    ("Number", "N"),
    ("Openpunctuation", "Ps"),
    ("Other", "C"),
    ("Otherletter", "Lo"),
    ("Othernumber", "No"),
    ("Otherpunctuation", "Po"),
    ("Othersymbol", "So"),
    ("Paragraphseparator", "Zp"),
    ("Privateuse", "Co"),
    ("Punctuation", "P"),
    ("Separator", "Z"),
    ("Spaceseparator", "Zs"),
    ("Spacingmark", "Mc"),
    ("Surrogate", "Cs"),
    ("Symbol", "S"),
    ("Titlecaseletter", "Lt"),
    ("Unassigned", "Cn"),
    ("Uppercaseletter", "Lu"),
    ("Cntrl", "Cc"),
    ("Digit", "Nd"),
    ("Punct", "P"),
];

/// Every script that Go finds by its name.
const SCRIPTS: &[&str] = &[
    "Adlam",
    "Ahom",
    "Arabic",
    "Armenian",
    "Avestan",
    "Balinese",
    "Bamum",
    "Batak",
    "Bengali",
    "Bhaiksuki",
    "Bopomofo",
    "Brahmi",
    "Braille",
    "Buginese",
    "Buhid",
    "Carian",
    "Chakma",
    "Cham",
    "Cherokee",
    "Chorasmian",
    "Common",
    "Coptic",
    "Cuneiform",
    "Cypriot",
    "Cyrillic",
    "Deseret",
    "Devanagari",
    "Dogra",
    "Duployan",
    "Elbasan",
    "Elymaic",
    "Ethiopic",
    "Georgian",
    "Glagolitic",
    "Gothic",
    "Grantha",
    "Greek",
    "Gujarati",
    "Gurmukhi",
    "Han",
    "Hangul",
    "Hanunoo",
    "Hatran",
    "Hebrew",
    "Hiragana",
    "Inherited",
    "Javanese",
    "Kaithi",
    "Kannada",
    "Katakana",
    "Kawi",
    "Kharoshthi",
    "Khmer",
    "Khojki",
    "Khudawadi",
    "Lao",
    "Latin",
    "Lepcha",
    "Limbu",
    "Lisu",
    "Lycian",
    "Lydian",
    "Mahajani",
    "Makasar",
    "Malayalam",
    "Mandaic",
    "Manichaean",
    "Marchen",
    "Medefaidrin",
    "Miao",
    "Modi",
    "Mongolian",
    "Mro",
    "Multani",
    "Myanmar",
    "Nabataean",
    "Nandinagari",
    "Newa",
    "Nko",
    "Nushu",
    "Ogham",
    "Oriya",
    "Osage",
    "Osmanya",
    "Palmyrene",
    "Phoenician",
    "Rejang",
    "Runic",
    "Samaritan",
    "Saurashtra",
    "Sharada",
    "Shavian",
    "Siddham",
    "Sinhala",
    "Sogdian",
    "Soyombo",
    "Sundanese",
    "Syriac",
    "Tagalog",
    "Tagbanwa",
    "Takri",
    "Tamil",
    "Tangsa",
    "Tangut",
    "Telugu",
    "Thaana",
    "Thai",
    "Tibetan",
    "Tifinagh",
    "Tirhuta",
    "Toto",
    "Ugaritic",
    "Vai",
    "Vithkuqi",
    "Wancho",
    "Yezidi",
    "Yi",
];

/// Characters that fold in the tables of regex-syntax and in Go's do not: what their partners are came with a later
/// Unicode version.
const FOLD_LATER: &[u32] = &[0x019B, 0x0264, 0x0390, 0x03B0, 0x1FD3, 0x1FE3, 0xFB05, 0xFB06];

/// A character that is a nonspacing mark in Go's tables and a spacing one in Unicode 16.
const MARK_THEN_NONSPACING: u32 = 0x1171E;

/// The characters of a class by the name between the braces, as written or without regard to case; none if Go knows no
/// such class.
pub(super) fn class(name: &str, folding: bool) -> Option<Ranges> {
    let name = canonical(name);
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, short)| short);
    let class = plain(name)?;
    // Go has no table of what folds to these.
    Some(if folding && name != "Lc" { folded(&class) } else { class })
}

fn plain(name: &str) -> Option<Ranges> {
    let moved = Ranges::new([(MARK_THEN_NONSPACING, MARK_THEN_NONSPACING)]);
    match name {
        "Any" => Some(Ranges::all()),
        "Ascii" => Some(Ranges::new([(0, 0x7F)])),
        "Assigned" => Some(ASSIGNED.clone()),
        "Cn" => Some(ASSIGNED.negated()),
        "Cs" => Some(Ranges::new([SURROGATES])),
        // Control, format, private use, surrogates, and what is not assigned.
        "C" => Some(
            table(r"[\p{gc=Cc}\p{gc=Cf}\p{gc=Co}]")
                .union(&Ranges::new([SURROGATES]))
                .union(&ASSIGNED.negated()),
        ),
        "Lc" => Some(aged(r"[\p{gc=Ll}\p{gc=Lt}\p{gc=Lu}]")),
        "Mc" => Some(aged(r"\p{gc=Mc}").without(&moved)),
        "Mn" => Some(aged(r"\p{gc=Mn}").union(&moved)),
        _ if CATEGORIES.contains(&name) => Some(aged(&format!(r"\p{{gc={name}}}"))),
        _ if SCRIPTS.contains(&name) => Some(aged(&format!(r"\p{{sc={name}}}"))),
        _ => None,
    }
}

/// The class with every character that one of its characters folds to.
pub(super) fn folded(class: &Ranges) -> Ranges {
    let Some(mut unicode) = to_unicode(class) else { return class.clone() };
    if unicode.try_case_fold_simple().is_err() {
        return class.clone();
    }
    let later = Ranges::new(FOLD_LATER.iter().map(|rune| (*rune, *rune)));
    let added = from_unicode(&unicode).without(class).without(&later);
    if added.is_empty() { class.clone() } else { class.union(&added.intersection(&ASSIGNED)) }
}

/// How Go compares names: blanks, `_` and `-` do not count, and of the case only the first letter's is upper. So no
/// script of two words is ever found: their names in Go's table keep the `_`.
fn canonical(name: &str) -> String {
    let mut canonical = String::with_capacity(name.len());
    for c in name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')) {
        canonical.push(if canonical.is_empty() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() });
    }
    canonical
}

/// What Go's tables assign. Noncharacters have an age too.
static ASSIGNED: LazyLock<Ranges> = LazyLock::new(|| table(AGE).without(&table(r"\p{gc=Cn}")));

fn aged(expression: &str) -> Ranges {
    table(expression).intersection(&ASSIGNED)
}

// The expressions are ours, and a test goes through every name.
fn table(expression: &str) -> Ranges {
    match regex_syntax::parse(expression).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(HirClass::Unicode(class))) => from_unicode(&class),
        Ok(HirKind::Literal(literal)) => {
            Ranges::new(String::from_utf8_lossy(&literal.0).chars().map(|c| (u32::from(c), u32::from(c))))
        }
        _ => Ranges::new([]),
    }
}

fn from_unicode(class: &ClassUnicode) -> Ranges {
    Ranges::new(class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))))
}

fn to_unicode(class: &Ranges) -> Option<ClassUnicode> {
    let scalar = class.without(&Ranges::new([SURROGATES]));
    let ranges: Option<Vec<_>> = scalar
        .iter()
        .map(|(low, high)| Some(ClassUnicodeRange::new(char::from_u32(low)?, char::from_u32(high)?)))
        .collect();
    Some(ClassUnicode::new(ranges?))
}
