"""Every error and warning text of the library, each with a code.

Use a text as in ``raise ValueError(Errors.E107.format(...))``. Each text says what happened, names the bad
value, and says what was expected or what to do. The number of a code begins with that of its room.
"""


class _TextsWithCodes(type):
    """Metaclass that puts the code in front of its text: ``Errors.E107`` is ``"[G2G-E107] ..."``."""

    def __getattribute__(cls, name: str) -> str:
        text: str = super().__getattribute__(name)
        return text if name.startswith("__") else f"[G2G-{name}] {text}"


def _install(extra: str) -> str:
    """Return the end of the text on a package that is missing."""
    return f'To install it: pip install "spacy-g2g[{extra}]", or in a clone: pip install ".[{extra}]"'


class Errors(metaclass=_TextsWithCodes):
    """Texts of exceptions; complete them with ``str.format``."""

    # 1xx: trees
    E107 = (
        "No tree with a single root is possible for sentence {sentence} of the batch. Expected scores "
        "without NaN, and fewer forbidden arcs."
    )

    # 2xx: layers
    E201 = "Unknown activation {activation!r}. Expected one of: {known}."
    E204 = (
        "The width {width} can't be divided by {n_heads} attention heads. Expected a multiple of that number."
    )
    E206 = (
        "Can't find the encoder checkpoint {name!r}: there is no such folder, and no model of this name "
        "could be fetched from the Hugging Face Hub. Expected a local folder, or a Hub name such as "
        "'bert-base-cased' with network access or a filled cache. Cause: {cause}"
    )
    E207 = "The checkpoint folder {folder} has no file {file}. Expected {expected}."
    E208 = "Can't read {path}. Expected a complete file of a supported encoder. Cause: {cause}"
    E209 = "{path}: checkpoints with model_type {found!r} are not supported. Expected one of: {known}."
    E210 = "{path}: {key!r} is missing. Expected the configuration of a model of type {model_type!r}."
    E211 = "{key} is {found!r}. Expected {expected}."
    E212 = "{path}: the tensor {name!r} is missing. Expected the weights that config.json describes."
    E213 = "{path}: the tensor {name!r} has the shape {found}. Expected {expected}, as in config.json."
    E214 = "Can't keep {n_layers} layers of this checkpoint. Expected 1 to {available}."
    E217 = "The settings need more tensors than the {n} in the file. Expected settings that fit the weights."
    E220 = "The SentencePiece model is of type {kind}. Expected Unigram (1), or a file tokenizer.json."
    E225 = (
        "The tokenizer is a {found}, which can't be made from vocab.txt. Expected a file tokenizer.json, or "
        "one of: {known}."
    )

    # 3xx: formats
    E301 = "{where}: expected 10 columns separated by tabs, but found {found}: {row!r}{hint}"
    E302 = "{where}: byte 0x{value:02x} is not UTF-8. Expected UTF-8 text."
    E303 = "{where}: broken ID {value!r}. Expected word {expected}, or an empty node or multiword token."
    E304 = "{where}: head {head}. Expected the ID of a word in the sentence, or 0 for the root."
    E305 = "{where}: a sentence has no words. Expected at least one."
    E306 = (
        "{where}: several roots: the words {roots} have head 0. Expected one root, or the option "
        "--attach-roots of g2g convert and g2g evaluate, attach_roots = true of the corpus reader."
    )
    E307 = "{where}: the heads form a cycle: {cycle}. Expected a tree."
    E308 = "Column {name!r} has {found} values for {expected} words. Expected one value for each word."
    E309 = "{where}: the column FORM is empty. Expected the word."
    E310 = "{where}: expected 8 or 10 columns of CoNLL-X separated by tabs, but found {found}: {row!r}{hint}"
    E311 = "{where}: DEPS has {value!r}. Expected ID:label of nodes of the sentence, joined by |, or _."

    # 4xx: models
    E401 = "Can't read the content of tokenizer.json: {error}. Expected the format of the library tokenizers."
    E402 = "The tokenizer has no known special pieces with ids below {n}. Expected {families}."
    E403 = (
        "An encoder can't have the width, layers, attention heads and hidden width {sizes} with "
        "{n_key_heads} key heads. Expected numbers above 0, a width that is a multiple of the attention "
        "heads, and attention heads that are a multiple of the key heads."
    )
    E404 = "n_positions is {n_positions}. Expected 8 or more."
    E405 = "The model is not initialized. Call nlp.initialize(get_examples), or load a trained pipeline."
    E406 = "Can't read the saved weights: {error}. Expected the complete file that was saved."
    E407 = "The model {name!r} is not a parser. Expected an architecture such as spacy_g2g.SynTr.v1."
    E408 = "{setting} is {value}. Expected a number {expected}."
    E409 = (
        "The scores are not numbers (NaN), so training has diverged, or the model's file is damaged. Try a "
        "lower learning rate, or an undamaged file."
    )
    E410 = "The loss is {loss}, so training has diverged. Try a lower learning rate or gradient clipping."
    E411 = "{setting} is {value!r}. Expected one of {choices}."
    E413 = (
        "The pipeline {path} has no parser called {component!r}. Expected one of its components {names}, "
        "with an encoder from this library."
    )
    E414 = (
        "tag_attr is {tag_attr!r}, but tags can't be added to the word vectors of a shared encoder. Expected "
        "tag_attr = null or tok2vec = null."
    )
    E415 = (
        "This parser listens to a shared encoder and has none of its own to copy or set. Expected the "
        "component of the encoder, or a model with tok2vec = null."
    )
    E417 = (
        "state_heads ties {heads}, but there are only {n_heads} attention heads. Expected at most one entry "
        "for each attention head."
    )
    E418 = (
        "n_mixed_layers is {n_layers} and pooling is {pooling!r}, but a shared encoder gives one vector for "
        'each word. Expected n_mixed_layers = 1 and pooling = "first", or tok2vec = null.'
    )
    E419 = (
        "A refiner listens to an encoder that takes no graphs. Expected a listener to a g2g_encoder, or "
        "tok2vec = null."
    )
    E420 = (
        "The config gives a source of encoder weights to a component that listens to a shared encoder "
        "(tok2vec). Remove the source, use spacy_g2g.EncoderFromPipeline.v1 with the scorers of a parser, or "
        "set tok2vec = null."
    )
    E421 = "factor is {factor}. Expected a number above 0."
    E422 = (
        "Can't cut the vocabulary of a tokenizer of the kind {kind!r}. Expected Unigram, WordPiece or BPE. "
        'Set vocabulary = "all".'
    )
    E430 = "The SHA-256 differs from that of the saved content, so the file is damaged"

    # 5xx: data
    E501 = "n_sents is {n_sents}. Expected 1 or more sentences in each Doc."
    E502 = "Unknown annotations {names}. Expected some of {expected}."
    E503 = "Annotations {names} include only one of HEAD and DEP. Expected both or neither."
    E504 = "The tokens {words} are not the words of the CoNLL-U sentence {sentence!r}. Expected the same."
    E505 = "The head {head!r} of {word!r} (token {index}) is in another sentence. Expected the same sentence."
    E506 = "The corpus has no path. Expected a file ({expected}), or a folder of such files."
    E507 = "There is no corpus at {path}. Expected a file ({expected}), or a folder of such files."
    E508 = "{path} is not a corpus. Expected a file ({expected}), or a folder of such files."
    E509 = (
        "{where}: sentence {number} differs from {gold} at word {word}: found {found}, expected {expected}."
    )
    E511 = "doc._.g2g_initial has the {name} {found}. Expected {{'heads': ..., 'deps': ...}} for {n} tokens."
    E512 = "{name} is {value}. Expected 0 or more."
    E513 = (
        "The constraints {found} are not valid. Expected heads, not_heads and subtrees with numbers of "
        "tokens, and deps and not_deps with numbers of tokens and labels, as constrain() writes them."
    )
    E514 = (
        "A constraint of the kind {kind!r} is on the tokens {tokens}, but the Doc {text!r}... has {n} "
        "tokens. Expected one or more tokens of one sentence, none of them white space."
    )
    E515 = (
        "A constraint gives token {token} of the Doc {text!r}... the label {label!r}. Expected one of the "
        "parser's labels: {labels}."
    )
    E516 = "No tree of {text!r}... with one root meets all of these constraints: {constraints}. Remove one."
    E518 = (
        "A batcher calls augmenters without a pipeline, so nlp.{name} is missing. Set this augmenter in "
        "corpora.train.augmenter instead."
    )
    E520 = "{where}: the features are {feats!r}. Expected Name=Value, Name=Value|Name=Value and so on, or _."
    E521 = "doc.user_data['conllu'] is {found!r}. Expected the 'text' and 'lengths' that convert writes."
    E522 = (
        "The enhanced graph is {found}. Expected a list of pairs of head and label for each of {n} tokens. "
        "Labels must not have white space or '|'."
    )
    E523 = (
        "There are weights for the unknown treebanks {unknown}. Expected names from the section path: "
        "{names}."
    )
    E524 = "The weight of the treebank {name} is {weight}. Expected a number above 0."
    E525 = (
        "The treebanks {names} have the same path {path}. Expected each path once; to repeat a treebank, use "
        "weights."
    )
    E526 = (
        "{where}: an argument in MISC is {value!r}. Expected ROLE:HEAD:FIRST-LAST with IDs of words from 1 "
        "to {n}, and the head in the span."
    )
    E527 = (
        "The roles are {found}. Expected spacy_g2g.data.roles.Predicate for different tokens of a Doc of {n} "
        "tokens, with the head of each argument in its span. Names must not have white space or '|'."
    )
    E528 = "{path} can't be read as a .spacy file. Expected a file that spaCy's DocBin wrote."
    E555 = (
        "The weights {weights} make an epoch {times:g} times as long as the treebanks. Expected weights that "
        "are closer to each other, for at most {most} times."
    )
    E560 = "The spans {spans} of doc.spans['mwt'] overlap. Expected multiword tokens that share no token."
    E565 = "The table of splits is damaged. Expected splits, words and counts as mwt_splitter saves them."

    # 6xx: evaluation
    E601 = "{name} does not have the gold file's sentences and words. Expected {expected}, found {found}."
    E602 = "None of the {n} gold words is left to compare ({compared}). Expected at least one."
    E603 = "Can't rank sentences by {by!r}. Expected one of: {known}."
    E605 = (
        "The gold and the system text differ from character {index} on (not counting white space): {gold!r} "
        "and {system!r}. Expected two annotations of the same text."
    )
    E611 = "Can't draw without matplotlib ({error}). " + _install("plots")
    E615 = "Unknown rule {name!r} for leaving out punctuation. Expected one of: {expected}."

    # 7xx: training
    E702 = (
        "Can't cache the output of {name!r}. Expected a component with the method 'pipe' that is in "
        "training.frozen_components, which is {frozen}, and training.annotating_components, which is "
        "{annotating}."
    )
    E704 = "Can't cache the output of {name!r}: its vectors come from {other!r}, which is not in {frozen}."
    E705 = "There is no pipeline to continue from. Expected --paths.base PIPELINE."
    E706 = "{path} has the components {names}. Expected a parser among them, such as g2g_parser."
    E707 = "No sentence in paths.train has a head to learn from. Expected at least one sentence with heads."
    E708 = (
        "{path} is the state of a training with another config: {sections} differ. Expected the same config, "
        "or another folder in training.logger.path."
    )
    E709 = (
        "Can't go on from {path}: up to step {step}, training now reads {found} words in place of {expected} "
        "or in another order. Expected the same corpus, and components that draw no numbers from Python's "
        "random module."
    )
    E755 = (
        "{name} is {value}. Expected a number above 0. To set the learning rate for continued training: "
        "--training.optimizer.learn_rate.initial_rate RATE"
    )

    # 8xx: pipeline
    E801 = "{name!r} has no labels. Expected Examples with heads and deps, or add_label before initialize."
    E802 = "{name!r} does not know the labels {unknown}. Expected some of {labels}, or add_label first."
    E803 = "Can't add the label {label!r}. Expected a non-empty string."
    E804 = "The file {path} is missing. Expected the files of a saved g2g component in {folder}."
    E805 = "Can't read {path}: {error}"
    E806 = "{origin}: {found} {what}, but the model has {expected}. Expected files that were saved together."
    E809 = "The layer {layer!r} returned {found} vectors for {expected} tokens. Expected one for each token."
    E810 = (
        "{name!r} can learn from none of the {n} sentences that have heads. Expected complete trees with one "
        "root, projective if the model has swap = false."
    )
    E811 = "{name!r} has the model {model!r}, which builds {builds}. Expected a model that builds {expected}."
    E812 = "Can't add {label!r} to {name!r}: its model {model!r} has no attribute resize_output."
    E813 = (
        "The Doc keeps scores of sentences with {found} words, but its sentences have {expected} words. "
        "Expected the Doc as it was parsed. Parse it again."
    )
    E814 = (
        "{name!r} has the model {model!r}, which gives no scores of arcs. Expected a model that scores all "
        "arcs, such as spacy_g2g.SynTr.v1, or a parse without keep_scores."
    )
    E815 = (
        "The Doc {text!r}... keeps no scores of arcs by {name!r}. Expected a Doc that {name!r} has parsed "
        "with keep_scores = true, in sentences that are parsed whole."
    )
    E816 = "k is {k!r}. Expected a whole number of 1 or more."
    E817 = (
        "A sentence of the Doc has {n} words. Expected at most {most}, since constraints, kbest and "
        "confidence are for sentences that are parsed whole. It begins with {start!r}."
    )
    E818 = (
        "The Doc {text!r}... has words without a label, or without a head in their sentence. Expected a Doc "
        "that was parsed."
    )
    E820 = "{origin}: the labels are {labels}. Expected distinct texts, none of them empty."
    E821 = (
        "{name!r} has the model {model!r}, which can't meet constraints. Expected Docs without "
        "doc._.g2g_constraints, or a graph-based model such as spacy_g2g.SynTr.v1."
    )
    E823 = "The Doc has no {attr}. Expected heads, labels and parts of speech, which noun chunks need."
    E824 = "The Doc {text!r}... has no tree. Expected a parser before {name!r}."
    E825 = (
        "A Doc has no treebank for {name!r}, which has tag_attr = 'treebank'. Expected a corpus with names."
    )
    E826 = (
        "{name!r} does not know the treebank {treebank!r}. It learned: {treebanks}. Expected one of these, "
        "or no treebank if the list is empty."
    )
    E827 = (
        "{name!r} reads labels of Universal Dependencies, but the Doc has {labels}. Expected another parser."
    )
    E828 = "{path} has no enhanced graphs. Expected sentences with a column DEPS."
    E831 = "grad_factor is {factor}. Expected a number of 0 or more."
    E832 = "There is no encoder {upstream!r} before a component that listens to it. Expected a g2g_encoder."
    E833 = "The listener's width is {found}, but that of its encoder is {expected}. Expected the same."
    E834 = (
        "The Doc {text!r}... lacks the vectors of the encoder that {name!r} learned with. Expected "
        "{encoder!r} before that component and enabled. If it is frozen in training, it must be among the "
        "annotating_components. If the component comes from another pipeline, write {lines}."
    )
    E840 = "The pipeline has the components {names}. Expected a g2g_parser or rng_refiner that is enabled."
    E841 = (
        "{name!r} has refined the Doc {text!r}..., and the tree and the probabilities that it started from "
        "are gone. Expected keep_scores = true before the Doc is parsed, as final_parser(nlp, "
        "keep_scores=True) sets it."
    )
    E843 = (
        "{name!r} found no roles. Expected Docs with predicates, rolesets and arguments in doc._.g2g_roles, "
        "or CoNLL-U with Pred and Args in MISC."
    )
    E860 = (
        "The Doc keeps scores by {name!r} for the labels {found}. Expected the present labels of {name!r}: "
        "{expected}. Parse it again."
    )
    E861 = (
        "The Doc {text!r}... keeps scores of other words. Expected scores of its own words. Parse it again."
    )
    E865 = "{key!r} is {value!r}. Expected {expected}."
    E870 = (
        "Can't save {name!r} without the encoder {encoder!r} that it learned with. Expected that encoder "
        "before it in the pipeline. If it comes from another pipeline, write {lines}."
    )
    E871 = (
        "Can't save {name!r}: its listener was replaced by a copy of the encoder after it came from another "
        "pipeline, but its config here still has the listener. Expected nlp.remove_pipe({name!r}), then "
        "nlp.add_pipe({name!r}, source=other)."
    )

    # 9xx: cli
    E901 = (
        "For the sentence {sentence!r}, the pipeline returned the tokens {words} and {n} AMR(s). Expected "
        "the words of the file and at most one AMR. The pipeline must not merge or split tokens or sentences."
    )
    E902 = (
        "The sentence {text!r} has no AMR because none of the components {names} sets doc._.amr. Expected an "
        "amr_parser or another component that sets it."
    )
    E903 = "{path}: unknown file type {suffix!r}. Expected one of {expected}."
    E905 = (
        "{path}, line {line}: {row!r} is not a document. Expected a JSON object with a string 'text', no "
        "lone surrogates, and no numbers with thousands of digits."
    )
    E906 = "There is no file {path}."
    E907 = (
        "There is nothing to draw: none of the components {names} sets heads or doc._.amr. Expected a parser "
        "such as g2g_parser or amr_parser."
    )
    E908 = (
        "{path}, line {number}: {line!r} looks like a line of an AMR file. Expected plain text, or the "
        "suffix .amr for a file of AMRs."
    )
    E911 = "The pipeline has the components {names}. Expected at least one rng_refiner."
    E912 = (
        "The systems have the names {names}. Expected {n} different names, one for each file, and none empty."
    )
    E914 = (
        "The pipeline has the components {names}, and training.frozen_components is {frozen}, so there is "
        "nothing to check. Expected a g2g_parser or rng_refiner that is not frozen."
    )
    E915 = (
        "Can't read {name!r}: {error} Set its path in the config or by an option such as --paths.train FILE."
    )
    E916 = "Out of memory: {error}. Try shorter sentences, smaller batches or fewer processes."
    E925 = "{path} has no sentences. Expected one or more."
    E926 = (
        "The keys of document {number} can't be saved in a .spacy file: {error}. Expected numbers of 64 bits."
    )
    E927 = "These files are named more than once: {paths}. Expected each file once."
    E928 = "{path}, document {number}: {error}. Expected a file that spaCy's DocBin wrote."
    E935 = "There is no folder {path}. Expected the folder of a saved pipeline."

    # 10xx: amr
    E1002 = "{where}: can't read the AMR {text}: {error}. Expected a graph, as in (b / bark :ARG0 (d / dog))."
    E1003 = "{where}: unexpected text after the AMR: {rest}. Expected one graph, followed by an empty line."
    E1004 = "{where}: the AMR has an empty node (). Expected a variable and a concept, as in (d / dog)."
    E1005 = (
        "{where}: the variable {variable!r} is defined twice. Expected one definition with its concept, and "
        "the bare variable everywhere else."
    )
    E1006 = "{where}: variable {variable!r} has an incomplete role {role!r}. Expected a name and a target."
    E1007 = (
        "No AMR was read from {path} ({n} had errors). Expected at least one with one of the requested ids."
    )
    E1008 = "on_error is {on_error!r}. Expected 'raise' or 'skip'."
    E1009 = "The range of ids {entry!r} ends before it starts. Expected a range such as 'lpp_1943.1..145'."
    E1010 = "AMRs need a package that can't be imported: {error}. " + _install("amr")
    E1017 = "doc._.amr is {found}. Expected None, or a list with the text of one AMR for each sentence."
    E1018 = (
        "doc._.amr has {n} AMR(s), but the Doc {text!r}... has {sentences} sentence(s). Expected one AMR for "
        "each sentence. Don't change sentence boundaries after AMRs are set."
    )
    E1019 = "{where}: the AMR has no sentence. Expected a line such as '# ::snt The dog barked .'"
    E1020 = "Can't read the AMR scheme: {error}. Expected the output of AmrScheme.to_dict()."
    E1022 = "restarts is {restarts}. Expected 0 or more."
    E1028 = (
        "{name!r} found no AMR to learn from ({n} sentences, {amrs} AMRs in doc._.amr, none with the same "
        "text). Expected Examples whose reference Docs have doc._.amr. A DocBin keeps AMRs only with "
        "store_user_data=True. spacy.Corpus.v1 loses AMRs if gold_preproc is true or max_length is above 0. "
        "The reader spacy_g2g.AMRCorpus.v1 and the files of `g2g convert-amr` keep AMRs."
    )
    E1029 = "{origin}: the component and its model have different actions. Expected files saved together."

    # 11xx: corpus_job
    E1101 = "{path} has no documents that can be read. Expected files of these types: {expected}."
    E1102 = "There is no input at {path}. Expected a file or a folder."
    E1103 = "{path} has no column {missing}. Its columns are {names}. Set --text-column or --keep."
    E1104 = "The document has more than {limit} bytes."
    E1105 = "The line is a JSON {found}. Expected an object."
    E1106 = "{column!r} is of type {found}. Expected text."
    E1107 = "Unknown annotations {names}. Expected some of {expected}."
    E1108 = (
        "The output already has columns with the names {names} of the input, so --keep can't keep these. "
        "Expected other names."
    )
    E1109 = "There is no Parquet file at {path}. Expected a file or folder that parse-corpus has written."
    E1110 = "Can't find the pipeline {pipeline!r}. Expected its folder, or the name of an installed package."
    E1111 = (
        "{output} belongs to another job. Differences: {different}. Use the same inputs, pipeline, versions "
        "and settings, or another folder."
    )
    E1112 = "{n} processes died while they parsed this document alone."
    E1114 = "{n} processes died at this shard before they parsed a document. Check free memory."
    E1115 = "Can't read {path}: {error}"
    E1116 = "{n} of the first {total} documents are errors, more than --max-errors allows. The first: {first}"
    E1117 = (
        "{path} can't be read as a file of this job: {error}. If it is damaged, or another job wrote it, "
        "delete it and run again."
    )
    E1118 = "{value!r} is not one of the parts of the shards. Expected I/N, such as 3/10, with I from 1 to N."
    E1119 = "Can't import {module}. " + _install("corpus")
    E1120 = (
        "{output} is inside an input. Expected a folder elsewhere, since a job must not read its own output."
    )
    E1121 = "Can't use {name!r}. Expected a path, or a URI that begins with one of {expected}."
    E1122 = (
        "{output} has files in {names}, but no job.json. Expected an empty folder, or the folder of a job."
    )
    E1123 = (
        "{path} has the format {there!r}, not {now}. Either another version of spacy-g2g wrote it, or no job "
        "did. Finish with that version, or use another folder."
    )
    E1124 = "{path} has changed since the job began. Then: {then}. Now: {now}."
    E1125 = "Can't import {module}, so use --engine none. Or: " + _install("corpus")
    E1126 = (
        "No document could be parsed, and there are {n} errors. {folder} has the reasons. Expected documents "
        "that have a text: check --text-column."
    )
    E1127 = "{output} is a file. Expected the folder of a job, an empty folder, or a name that is free."

    # 12xx: serve
    E1201 = "Can't import {module}. " + _install("serve")
    E1202 = "{where} is {found}. {problem}."
    E1203 = "Internal error; see the service's log."
    E1204 = "The service is busy: {found}. Try again later."
    E1205 = "The request took longer than {seconds} seconds. Expected a shorter text, or a higher --timeout."
    E1206 = "{what}: {n}. Expected {limit} at most{remedy}."
    E1208 = "Expected exactly one of text, words and rows."
    E1210 = "{name} has {n} values. Expected one for each of {words} words."
    E1212 = "Constraints need words. Expected words instead of a text."
    E1213 = "{name} has no sentences. Expected CoNLL-U."
    E1214 = "Can't read {name}: {error}. Expected a UIMA CAS as XMI, and its types."
    E1215 = "The types have no {missing} for the layer {layer}. Expected a layer of relations between tokens."
    E1217 = "There is no task {id!r}. Expected an id that /parse/start returned recently."
    E1218 = "There is no model {found}. Expected {expected}."
    E1219 = "This service neither trains nor deletes pipelines. Use `python -m spacy train`."
    E1222 = "Can't read the body: {error}. Expected JSON, with the header Content-Type: application/json."
    E1224 = "The request is for the host {host}. Expected an IP address, {hosts}, or --allow-host."
    E1275 = "The service is shutting down and has no answer yet. Try again when it is back."


class Warnings(metaclass=_TextsWithCodes):
    """Texts of warnings; complete them with ``str.format``."""

    # 4xx: models
    W401 = (
        "The parser's scorers do not fit this model, so only its encoder was copied. The parser has "
        "{differences}. Expected labels, tags, settings and training words as the parser has them. Set "
        "scorers = false to silence this warning."
    )
    W402 = (
        "The encoder has no pieces for {share:.0%} of the words in the training corpus, such as {words}, so "
        "it can't tell them apart. Expected text in a script that the encoder knows. Train a new pipeline, "
        'from a checkpoint for this script. vocabulary = "all" keeps all pieces of the checkpoint.'
    )

    # 5xx: data
    W560 = (
        "{name} of the Doc {text!r}... was set before tokens were merged, split or left out. Entries that no "
        "longer fit the tokens are dropped."
    )

    # 7xx: training
    W701 = (
        "{name!r} does not know the labels of {share:.0%} of the words in the training corpus: {new}. They "
        "are added. If the guidelines differ from those that the pipeline learned, train a new pipeline."
    )
    W750 = (
        "These components are not trained, since the training corpus lacks their annotation: {named}. The "
        "others are trained."
    )
    W751 = (
        "The training corpus has no annotation for {names}, which stay as they are. But training may change "
        "their encoder: to prevent that, replay sentences that have the annotation (paths.replay)."
    )

    # 8xx: pipeline
    W801 = (
        "{name!r} parses a Doc without sentence boundaries as one sentence. Train it (or its encoder) on "
        "Docs of several sentences, as g2g convert --n-sents 10 makes them, or add a component such as "
        "'senter' or 'sentencizer' before it: nlp.add_pipe('sentencizer', before='{name}'). This warning is "
        "shown once."
    )
    W802 = "{n} sentence(s) of the Doc {text!r}..., of up to {longest} words: only first pieces are read."
    W803 = "{n} sentence(s) of the Doc {text!r}..., of up to {longest} words: read in overlapping windows."
    W804 = (
        "{name!r} can't learn from {n} of {of} sentences: their trees are incomplete, have several roots, or "
        "are not projective while the model has swap = false."
    )
    W805 = (
        "{n} sentence(s) of the Doc {text!r}..., of up to {longest} words: for each action, only the words "
        "nearest to it are read."
    )
    W806 = (
        "{n} sentence(s) of the Doc {text!r}..., of up to {longest} words, are parsed in parts. Add a "
        "component that sets sentence boundaries, such as 'senter', before the parser."
    )

    # 9xx: cli
    W901 = (
        "None of the {n} words of {path} is punctuation by {name!r}, which is {rule}. Scores without "
        "punctuation will equal scores with it. Check the file's columns and tag set, or choose another "
        "rule."
    )

    # 10xx: amr
    W1001 = "{n} AMR(s) of {path} can't be read and are skipped. The first: {first}"
    W1002 = (
        "{n} of {of} sentences of {path} seem untokenized, and there is no ::tok line. Words keep their "
        "punctuation marks, such as {word!r}. If so, set gold_tokens = false (convert-amr: "
        "--no-gold-tokens)."
    )
    W1003 = (
        "{name}: {n} of {of} AMRs belong to sentences whose text differs in the predicted Docs. These AMRs "
        "are not used for learning."
    )
    W1004 = (
        "{name}: the settings {given} differ from those that the saved AMR scheme was learned with "
        "({learned}). The learned settings are used. To learn with new settings, call nlp.initialize without "
        "labels."
    )
    W1005 = "No AMR of {path} has any of the ids {missing}. Expected ids or ranges that occur in the file."

    # 11xx: corpus_job
    W1101 = (
        "{path} has more than {limit} MB and can't be cut into shards. If a worker dies, all its work on the "
        "file is lost. Split the file, or use .jsonl, .txt or .parquet."
    )
    W1102 = "{path} is left out: it can't be read, is not a file, or is a link to a folder or to nothing."
    W1170 = (
        "The pipeline sets {names}, which parse-corpus does not write. There are columns for trees and tags."
    )
