from hypothesis import settings

# No deadlines: how long an example takes depends on what else the machine does.
settings.register_profile("spacy_g2g", deadline=None)
settings.load_profile("spacy_g2g")
