"""The public names with their types, for editors and checkers: `__init__.py` loads them lazily."""

from rosenblatt import cluster as cluster
from rosenblatt.bounds.mistakes import mistake_bound as mistake_bound
from rosenblatt.bounds.theorem import MistakeBound as MistakeBound
from rosenblatt.check.verification import verify as verify
from rosenblatt.data.export import export as export
from rosenblatt.data.info import Info as Info
from rosenblatt.data.info import info as info
from rosenblatt.data.models import load as load
from rosenblatt.data.models import save as save
from rosenblatt.data.polynomials import PolynomialFeatures as PolynomialFeatures
from rosenblatt.data.read import read as read
from rosenblatt.data.synthetic import make_separable as make_separable
from rosenblatt.data.systems import solve as solve
from rosenblatt.data.text import TextHasher as TextHasher
from rosenblatt.decide.advice import Advice as Advice
from rosenblatt.decide.conflicts import Conflict as Conflict
from rosenblatt.decide.counts import CheapestCounts as CheapestCounts
from rosenblatt.decide.counts import cheapest_counts as cheapest_counts
from rosenblatt.decide.joint import JointSeparation as JointSeparation
from rosenblatt.decide.margins import Margin as Margin
from rosenblatt.decide.margins import max_margin as max_margin
from rosenblatt.decide.repairs import Repair as Repair
from rosenblatt.decide.separate import separate as separate
from rosenblatt.decide.separation import Separation as Separation
from rosenblatt.decide.solve import Solution as Solution
from rosenblatt.decide.subsets import FewestColumns as FewestColumns
from rosenblatt.errors import CertificateError as CertificateError
from rosenblatt.errors import ClusterError as ClusterError
from rosenblatt.errors import EmptyError as EmptyError
from rosenblatt.errors import GuessWarning as GuessWarning
from rosenblatt.errors import InputError as InputError
from rosenblatt.errors import InseparableError as InseparableError
from rosenblatt.errors import LargeCopyWarning as LargeCopyWarning
from rosenblatt.errors import LargeModelWarning as LargeModelWarning
from rosenblatt.errors import MissingExtraError as MissingExtraError
from rosenblatt.errors import ModelFileError as ModelFileError
from rosenblatt.errors import ParseError as ParseError
from rosenblatt.errors import ReadTwiceWarning as ReadTwiceWarning
from rosenblatt.errors import RosenblattError as RosenblattError
from rosenblatt.errors import StoreError as StoreError
from rosenblatt.errors import UnknownColumnsWarning as UnknownColumnsWarning
from rosenblatt.exact.numbers import as_decimals as as_decimals
from rosenblatt.examples import Examples as Examples
from rosenblatt.kernel.functions import Gaussian as Gaussian
from rosenblatt.kernel.functions import Linear as Linear
from rosenblatt.kernel.functions import Polynomial as Polynomial
from rosenblatt.lab.animation import animate as animate
from rosenblatt.lab.exercises import check_exercise as check_exercise
from rosenblatt.lab.pictures_margins import plot_margins as plot_margins
from rosenblatt.lab.pictures_paths import plot_path as plot_path
from rosenblatt.lab.pictures_regions import plot_regions as plot_regions
from rosenblatt.lab.pictures_runs import plot_hardest as plot_hardest
from rosenblatt.lab.pictures_runs import plot_learning_curve as plot_learning_curve
from rosenblatt.learners.hard_margin import HardMarginSVM as HardMarginSVM
from rosenblatt.learners.kernel_perceptron import KernelPerceptron as KernelPerceptron
from rosenblatt.learners.online_svm import OnlineSVM as OnlineSVM
from rosenblatt.learners.perceptron import Perceptron as Perceptron
from rosenblatt.learners.soft_margin import SoftMarginSVM as SoftMarginSVM
from rosenblatt.run import History as History
from rosenblatt.run import Operations as Operations
from rosenblatt.run import Run as Run
from rosenblatt.run import Stop as Stop

__version__: str
__all__: list[str]
_HOMES: dict[str, str]
