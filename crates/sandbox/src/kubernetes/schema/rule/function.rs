//! The functions rules can call: those of `cel` and kube-cel, and what of them has to be replaced to mean
//! what it means on the API server.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use kube_cel::KubeCelExt;
use kube_cel::cel::extractors::This;
use kube_cel::cel::{Context, ExecutionError, Value};

use super::super::pattern::Pattern;

/// Patterns kept compiled. Rules hold theirs as literals, so that a set of CRDs has some dozens; a rule that
/// builds patterns out of data must not fill the memory.
const PATTERNS_MAX: usize = 1024;

/// The functions, by the names rules call them. Kept beside the registration because `cel` cannot be asked
/// which functions it has; a test compares the two.
const NAMES: &[&str] = &[
    "add",
    "asApproximateFloat",
    "asInteger",
    "base64.decode",
    "base64.encode",
    "bytes",
    "charAt",
    "cidr",
    "compareTo",
    "contains",
    "containsCIDR",
    "containsIP",
    "distinct",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "family",
    "find",
    "findAll",
    "first",
    "flatten",
    "format",
    "format.byte",
    "format.date",
    "format.datetime",
    "format.dns1035Label",
    "format.dns1035LabelPrefix",
    "format.dns1123Label",
    "format.dns1123LabelPrefix",
    "format.dns1123Subdomain",
    "format.dns1123SubdomainPrefix",
    "format.labelValue",
    "format.named",
    "format.qualifiedName",
    "format.uri",
    "format.uuid",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getEscapedPath",
    "getFullYear",
    "getHost",
    "getHostname",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getPort",
    "getQuery",
    "getScheme",
    "getSeconds",
    "hasValue",
    "indexOf",
    "int",
    "ip",
    "ip.isCanonical",
    "isCIDR",
    "isGlobalUnicast",
    "isGreaterThan",
    "isIP",
    "isInteger",
    "isLessThan",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "isLoopback",
    "isQuantity",
    "isSemver",
    "isSorted",
    "isURL",
    "isUnspecified",
    "join",
    "jsonpatch.escapeKey",
    "last",
    "lastIndexOf",
    "lists.range",
    "lowerAscii",
    "major",
    "masked",
    "matches",
    "math.abs",
    "math.bitAnd",
    "math.bitNot",
    "math.bitOr",
    "math.bitShiftLeft",
    "math.bitShiftRight",
    "math.bitXor",
    "math.ceil",
    "math.floor",
    "math.greatest",
    "math.isFinite",
    "math.isInf",
    "math.isNaN",
    "math.least",
    "math.round",
    "math.sign",
    "math.sqrt",
    "math.trunc",
    "max",
    "min",
    "minor",
    "optional.none",
    "optional.of",
    "optional.ofNonZeroValue",
    "or",
    "orValue",
    "patch",
    "prefixLength",
    "quantity",
    "replace",
    "reverse",
    "semver",
    "sets.contains",
    "sets.equivalent",
    "sets.intersects",
    "sign",
    "size",
    "slice",
    "sort",
    "split",
    "startsWith",
    "string",
    "strings.quote",
    "sub",
    "substring",
    "sum",
    "timestamp",
    "trim",
    "uint",
    "upperAscii",
    "url",
    "validate",
    "value",
];

/// The context every rule is evaluated in.
pub(super) static FUNCTIONS: LazyLock<Context<'static>> = LazyLock::new(|| {
    let mut context = Context::default().with_all();
    context.add_function("size", size);
    context.add_function("matches", matches);
    context.add_function("dyn", dynamic);
    context
});

/// Whether rules can call a function of that name.
pub(super) fn is_known(name: &str) -> bool {
    NAMES.contains(&name)
}

/// `dyn`, which only tells the type checker to look away; `cel` 0.13 lacks it.
fn dynamic(value: Value) -> Result<Value, ExecutionError> {
    Ok(value)
}

/// `size`, of strings in code points as the language demands; `cel` 0.13 counts bytes.
fn size(This(this): This<Value>) -> Result<i64, ExecutionError> {
    let size = match &this {
        Value::List(items) => items.len(),
        Value::Map(map) => map.map.len(),
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    i64::try_from(size).map_err(|error| ExecutionError::function_error("size", error))
}

/// `matches`, with RE2's meaning and every pattern compiled once; `cel` 0.13 compiles at every call.
fn matches(This(this): This<Arc<String>>, pattern: Arc<String>) -> Result<bool, ExecutionError> {
    static PATTERNS: Mutex<BTreeMap<String, Arc<Pattern>>> = Mutex::new(BTreeMap::new());
    let known = PATTERNS.lock().unwrap_or_else(PoisonError::into_inner).get(pattern.as_str()).cloned();
    let compiled = match known {
        Some(compiled) => compiled,
        None => {
            let compiled = Pattern::compile(&pattern)
                .map_err(|error| ExecutionError::function_error("matches", error))?;
            let compiled = Arc::new(compiled);
            let mut patterns = PATTERNS.lock().unwrap_or_else(PoisonError::into_inner);
            if patterns.len() < PATTERNS_MAX {
                patterns.insert(pattern.as_str().to_owned(), Arc::clone(&compiled));
            }
            compiled
        }
    };
    Ok(compiled.matches(&this))
}

#[cfg(test)]
mod tests {
    use kube_cel::cel::parser::Parser;

    use super::*;

    /// Called without arguments, a function complains about them; only one that does not exist is undeclared.
    #[test]
    fn schema_rules_know_no_function_that_does_not_exist() {
        for name in NAMES.iter().chain(&["nobody", "math.nobody"]) {
            let Ok(call) = Parser::new().parse(&format!("{name}()")) else { panic!("{name} does not parse") };
            let result = Value::resolve(&call, &FUNCTIONS);
            let undeclared = matches!(result, Err(ExecutionError::UndeclaredReference(_)));
            assert_eq!(undeclared, !is_known(name), "{name}: {result:?}");
        }
    }
}
