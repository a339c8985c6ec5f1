"""Models of statsmodels and scikit-learn: the same answers as for their data."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import rosenblatt as rb

pandas = pytest.importorskip("pandas")
TRIAL = pandas.DataFrame(
    {
        "age": [34, 51, 47, 29, 62, 40, 55, 38, 33, 45, 58, 61],
        "site": list("aabbaabbccab"),
        "vaccinated": [0] * 8 + [1] * 4,
        "ill": [1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0],
    }
)
TRIAL = TRIAL.assign(counts=TRIAL["ill"] * 3)
ABOUT = {"const": "finite", "age": "finite", "vaccinated": "-inf"}


@pytest.fixture
def sm():
    return pytest.importorskip("statsmodels.api")


@pytest.fixture
def exog(sm):
    return sm.add_constant(TRIAL[["age", "vaccinated"]])


@pytest.mark.parametrize("name", ["Logit", "Probit"])
@pytest.mark.filterwarnings("ignore")
def test_models_of_statsmodels_are_asked_fitted_or_not(sm, exog, name):
    model = getattr(sm, name)(TRIAL["ill"], exog)
    for one in (model, model.fit(disp=0, maxiter=5)):
        found = rb.check_separation(one)
        assert (found.verdict, found.coefficients) == ("weakly separable", ABOUT)
        assert found.rows.tolist() == [8, 9, 10, 11]
        assert rb.verify(found.certificate, *found.data).ok


@pytest.mark.filterwarnings("ignore:The Identity link")
def test_generalised_linear_models_are_asked_by_family_and_link(sm, exog):
    families = sm.families
    counts, links = TRIAL["counts"], families.links
    both = np.column_stack([TRIAL["ill"] * 2, 2 - TRIAL["ill"] * 2])
    for family in (families.Binomial(), families.Binomial(links.CLogLog())):
        assert rb.check_separation(sm.GLM(both, exog, family=family)).coefficients == ABOUT
    for family in (families.Poisson(), families.NegativeBinomial(links.Log(), alpha=1.0)):
        found = rb.check_separation(sm.GLM(counts, exog, family=family))
        assert found.coefficients == ABOUT | {"age": found.coefficients["age"]}
    assert rb.check_separation(sm.Poisson(counts, exog)).verdict == found.verdict
    with pytest.raises(rb.InputError, match="no Binomial regression with the link Identity"):
        rb.check_separation(sm.GLM(both, exog, family=families.Binomial(links.Identity())))
    with pytest.raises(rb.InputError, match="no Gaussian regression with the link Identity"):
        rb.check_separation(sm.GLM(counts, exog))


def test_rows_without_weight_do_not_count(sm, exog):
    weights = np.where(TRIAL["vaccinated"], 0, 2)
    family = sm.families.Binomial()
    found = rb.check_separation(sm.GLM(TRIAL["ill"], exog, family=family, freq_weights=weights))
    assert found.coefficients["vaccinated"] == "aliased"
    last = sm.GLM(TRIAL["ill"], exog, family=family, freq_weights=np.arange(12) != 3)
    assert rb.check_separation(last).rows.tolist() == [8, 9, 10, 11]


def test_a_multinomial_logit_is_asked_about_all_classes_at_once(sm, exog):
    found = rb.check_separation(sm.MNLogit(TRIAL["site"], exog))
    assert isinstance(found, rb.JointSeparation)
    codes = TRIAL["site"].factorize(sort=True)[0]
    alone = rb.separate(exog, codes, fit_intercept=False, many="joint")
    assert (found.verdict, found.coefficients) == (alone.verdict, alone.coefficients)


@pytest.mark.parametrize("fitted", [False, True])
def test_pipelines_of_scikit_learn_are_asked_as_their_last_step_sees_the_data(fitted):
    encoder = make_column_transformer(
        (StandardScaler(), ["age"]), (OneHotEncoder(), ["site"]), ("passthrough", ["vaccinated"])
    )
    model = make_pipeline(encoder, LogisticRegression())
    X = TRIAL[["age", "site", "vaccinated"]]
    if fitted:
        model.fit(X, TRIAL["ill"])
    found = rb.check_separation(model, X, TRIAL["ill"])
    assert found.verdict == "weakly separable"
    assert found.coefficients["passthrough__vaccinated"] == "-inf"
    assert found.coefficients["onehotencoder__site_c"] == "aliased"


def test_learners_of_scikit_learn_are_asked():
    X, y = TRIAL[["age", "vaccinated"]], TRIAL["ill"]
    assert rb.check_separation(LogisticRegression(), X, y).coefficients["vaccinated"] == "-inf"
    without = rb.check_separation(LogisticRegression(fit_intercept=False), X, y)
    assert without.coefficients.keys() == {"age", "vaccinated"}
    counts = rb.check_separation(PoissonRegressor(), X, TRIAL["counts"])
    assert (counts.family, counts.coefficients["vaccinated"]) == ("poisson", "-inf")
    many = rb.check_separation(LogisticRegression(), X, TRIAL["site"])
    assert isinstance(many, rb.JointSeparation)


def test_other_models_are_told_in_one_sentence(sm, exog):
    for model, arguments, words in [
        (LinearRegression(), (TRIAL[["age"]], TRIAL["ill"]), "no regression of the class Linear"),
        (LogisticRegression(), (), "keeps no data"),
        (sm.OLS(TRIAL["ill"], exog), (), "no regression of the class OLS"),
        (sm.Logit(TRIAL["ill"], exog), (exog, TRIAL["ill"]), "leave X and y out"),
        ("model", (), "got a str"),
    ]:
        with pytest.raises(rb.InputError, match=words):
            rb.check_separation(model, *arguments)
